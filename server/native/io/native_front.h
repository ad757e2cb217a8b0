// The native front without JavaScript: one IoLoop on its owner's thread, and any number of
// IoThreads beside it.
//
// Threads: all of it belongs to the owner's (the JavaScript) thread.
// Listeners that hand connections over belong to the owner's loop, which uses the file table of the
// process. The other listeners belong to the I/O threads, or to the owner's loop when there are
// none.
// A pass gathers the records of its own loop and of all inboxes in one inbound buffer and calls
// `deliver`. The owner reads the records there, and may call Send() with answers then or at any
// other time. A pass receives at most one such buffer from the inboxes, however full they are, so
// that it stays short and the owner's other work gets its turn.
#ifndef SERVER_NATIVE_IO_NATIVE_FRONT_H_
#define SERVER_NATIVE_IO_NATIVE_FRONT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "io/io_loop.h"
#include "io/io_thread.h"

namespace sprites {

// Number 0 is the owner's loop; the last number is for the tickets of the portable front.
constexpr uint32_t kThreadsMax = (1u << kThreadBits) - 2;

struct FrontOptions {
  std::vector<ListenerOptions> listeners;
  uint32_t threads = 0;
};

struct FrontGauges {
  uint32_t connections;
  uint32_t waiting;
  uint32_t refused;
  uint32_t stalled;
};

class NativeFront {
 public:
  // `inbound` is memory of the owner. `deliver(bytes)` is called when its first `bytes` bytes hold
  // records.
  NativeFront(FrontOptions options, std::unique_ptr<SharedState> shared, uint8_t* inbound,
              uint32_t inbound_bytes, std::function<void(uint32_t)> deliver);
  ~NativeFront();
  NativeFront(const NativeFront&) = delete;
  NativeFront& operator=(const NativeFront&) = delete;

  // Opens every listener and starts the threads. Returns 0 or an errno; `ports` are in the order of
  // the options.
  int Listen(std::vector<uint16_t>* ports);

  // One pass: waits up to `timeout_ms` (-1: without limit), handles events, delivers records.
  // Returns true when the external descriptor is ready.
  bool Pass(int timeout_ms);
  // True when Pass() would not wait.
  bool HasWork() const { return has_full_inboxes_ || loop_->HasWork(); }
  // The descriptor that is readable when a pass has work, except for deadlines.
  int descriptor() const { return loop_->descriptor(); }
  // Makes Pass() wait for one descriptor of the owner, too.
  int AddExternal(int descriptor) { return loop_->AddExternal(descriptor, kExternal, 0); }
  // Makes Pass() return when a byte ring has bytes, too. The descriptor is never read: each write
  // to it is a new edge. Returns 0 or an errno.
  int AddDoorbell(int descriptor) { return loop_->AddExternal(descriptor, kDoorbell, EPOLLET); }
  void RemoveExternal(int descriptor) { loop_->RemoveExternal(descriptor); }

  // Sends the answers in memory[0, bytes): whole records, up to one whose first word is 0. Writes
  // to the gaps in them.
  void Send(uint8_t* memory, uint32_t bytes);
  // A connection that was handed over has closed. `block` is that of its record.
  void Released(AddressBlock block) {
    shared_->connections.fetch_sub(1, std::memory_order_relaxed);
    shared_->addresses.Leave(block);
  }
  FrontGauges Gauges() const;
  void Drain();
  // Closes everything. Then IsOver() is true once the threads have ended, which wakes Pass().
  void Stop();
  bool IsOver() const;
  // After Stop(): waits until the threads have ended.
  void Join();

 private:
  static constexpr uint32_t kExternal = 0;
  static constexpr uint32_t kSignal = 1;
  static constexpr uint32_t kDoorbell = 2;

  bool Deliver();
  bool ReceiveInboxes();

  const FrontOptions options_;
  const std::unique_ptr<SharedState> shared_;
  RecordBuffer inbound_;
  const std::function<void(uint32_t)> deliver_;
  std::unique_ptr<IoLoop> loop_;
  int signal_ = -1;
  std::vector<std::unique_ptr<IoThread>> threads_;
  std::vector<uint8_t> has_staged_;  // answers, by thread number − 1
  // For each of them the shared body that was staged last, named by the end of its record in the
  // answers of this Send(); 0: none.
  std::vector<uint32_t> staged_shared_;
  size_t next_inbox_ = 0;          // the inbox to receive from first
  bool has_full_inboxes_ = false;  // the last pass left records in them for lack of room
  bool stopped_ = false;
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_NATIVE_FRONT_H_
