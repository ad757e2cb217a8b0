// The native front without JavaScript: one IoLoop on the thread of its owner, and any number of
// IoThreads beside it.
//
// Threads: all of it belongs to the owner's (the JavaScript) thread. Listeners that hand
// connections over are on the owner's loop, which has the process's own file table; so are all
// others when there are no threads. A pass gathers records of its own loop and of all inboxes into
// one inbound buffer and calls `deliver`; the owner reads the records there and may call Send()
// with answers, then or at any other time. A pass takes one such buffer of the inboxes at the most,
// however full they are: so it is as short as that, and whatever else the owner does has its turn.
#ifndef SERVER_NATIVE_NATIVE_FRONT_H_
#define SERVER_NATIVE_NATIVE_FRONT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "io_loop.h"
#include "io_thread.h"

namespace sprites {

constexpr uint32_t kThreadsMax =
    (1u << kThreadBits) - 2;  // 0 is the owner's loop, the last is for the portable front

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
  // `inbound` is the owner's memory; `deliver(bytes)` is called when records are in its first
  // bytes.
  NativeFront(FrontOptions options, std::unique_ptr<SharedState> shared, uint8_t* inbound,
              uint32_t inbound_bytes, std::function<void(uint32_t)> deliver);
  ~NativeFront();
  NativeFront(const NativeFront&) = delete;
  NativeFront& operator=(const NativeFront&) = delete;

  // Opens every listener and starts the threads. 0 or an errno; `ports` in the order of the
  // options.
  int Listen(std::vector<uint16_t>* ports);

  // One pass: waits up to `timeout_ms` (-1: for ever), serves, delivers. True when the outsider had
  // something.
  bool Pass(int timeout_ms);
  // True when Pass() would not wait.
  bool HasWork() const { return has_full_inboxes_ || loop_->HasWork(); }
  // The descriptor that is readable when a pass has something to do (but for deadlines).
  int descriptor() const { return loop_->descriptor(); }
  // One descriptor that ends Pass()'s waiting: what else the owner waits for.
  int AddExternal(int descriptor) { return loop_->AddExternal(descriptor, kExternal, 0); }
  void RemoveExternal(int descriptor) { loop_->RemoveExternal(descriptor); }

  // Answers: whole records in memory[0, bytes), or up to one whose first word is 0. The gaps in
  // them are written to.
  void Send(uint8_t* memory, uint32_t bytes);
  // A connection that was handed over has ended.
  void Released() { shared_->connections.fetch_sub(1, std::memory_order_relaxed); }
  FrontGauges Gauges() const;
  void Drain();
  // Closes everything; IsOver() says when the threads have ended too, which Pass() notices.
  void Stop();
  bool IsOver() const;
  // Waits until the threads have ended. After Stop().
  void Join();

 private:
  static constexpr uint32_t kExternal = 0;
  static constexpr uint32_t kSignal = 1;

  bool Deliver();
  bool ReceiveInboxes();

  const FrontOptions options_;
  const std::unique_ptr<SharedState> shared_;
  RecordBuffer inbound_;
  const std::function<void(uint32_t)> deliver_;
  std::unique_ptr<IoLoop> loop_;
  int signal_ = -1;
  std::vector<std::unique_ptr<IoThread>> threads_;
  std::vector<uint8_t> touched_;   // thread number − 1 → has staged answers
  size_t next_inbox_ = 0;          // whose turn it is to be taken first
  bool has_full_inboxes_ = false;  // the last pass had no room for what is in them
  bool stopped_ = false;
};

}  // namespace sprites

#endif  // SERVER_NATIVE_NATIVE_FRONT_H_
