// The listeners of one loop, and what becomes of a connection that arrives at them.
//
// Threads: all of it belongs to its loop's thread.
// Invariant: every connection that Accept() returns is in the table and the epoll set, and is
// counted until Close().
// At a limit the acceptor refuses connections instead of failing. Above connections_max the loop
// answers them 503, and above connections_per_address_max 429. Without a free descriptor the
// acceptor answers 503 itself, using a descriptor that it keeps in reserve. Without even that one
// it pauses, and the clients wait in the backlog. Cost: two system calls a connection; with a limit
// by address also one look-up, and 8 bytes a connection.
#ifndef SERVER_NATIVE_IO_ACCEPTOR_H_
#define SERVER_NATIVE_IO_ACCEPTOR_H_

#include <cstdint>
#include <vector>

#include "io/address_counts.h"
#include "io/connection.h"
#include "io/epoll_set.h"
#include "io/listener.h"
#include "io/shared_state.h"

namespace sprites {

class Acceptor {
 public:
  // A listener and pass, so that accepting does not starve answering.
  static constexpr uint32_t kAcceptsMax = 64;

  struct Listener {
    int descriptor;  // -1: closed
    Route route;
    bool hands_over;
    uint8_t number;  // in records
  };

  Acceptor(SharedState* shared, EpollSet* epoll, ConnectionTable* table)
      : shared_(shared), epoll_(epoll), table_(table) {}
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Returns 0 or an errno. Call it first.
  int Open();
  // Takes ownership of a listening descriptor. Returns 0 or an errno.
  int Add(int descriptor, const ListenerOptions& options, uint8_t number);
  uint32_t listeners() const { return static_cast<uint32_t>(listeners_.size()); }
  const Listener& ListenerOf(const Connection& connection) const {
    return listeners_[connection.listener];
  }

  // Accepts the next connection that waits at listener `number`. Returns kNoIndex when none waits,
  // or when enough were accepted in this pass; `accepts` counts from 0 for each event. A connection
  // with the flag kRefused is above a limit: answer it with a problem and close it.
  Index Accept(uint32_t number, uint32_t* accepts);
  // Closes the descriptor of an accepted connection and stops counting it.
  void Close(Index index, const Connection& connection);
  // Stops looking after a connection that is handed over, which stays counted. Returns the block of
  // addresses to give back when it closes.
  AddressBlock Release(Index index);

  // Milliseconds until a paused acceptor continues; -1 when it is not paused.
  int MsUntilResume(uint64_t now_ms) const;
  // Continues when the pause is over.
  void ResumeIfDue(uint64_t now_ms);
  // Closes the listeners.
  void Stop();

 private:
  // Short for a client that is waiting, long compared with a system call.
  static constexpr uint32_t kPauseMs = 100;
  // Refused connections that may read their answer at the same time: a quarter of the descriptors
  // that are kept in reserve.
  static constexpr uint32_t kRefusedMax = 16;

  // Puts an accepted descriptor into the table and the epoll set; closes it and returns kNoIndex
  // when that fails.
  Index Register(int descriptor, uint8_t listener);
  Index Refuse(int descriptor, uint8_t listener, uint32_t flags);
  void KeepBlock(Index index, AddressBlock block);
  bool RefuseWithReserve(const Listener& listener);
  void Pause();
  void WatchListeners(bool watches);

  SharedState* const shared_;
  EpollSet* const epoll_;
  ConnectionTable* const table_;
  std::vector<Listener> listeners_;
  int reserve_ = -1;  // closed for a moment to accept and refuse a connection when no descriptor is
                      // left; -1: it could not be opened again
  uint64_t paused_until_ms_ = 0;      // 0: not paused
  uint32_t refused_open_ = 0;         // refused connections that still read their answer
  std::vector<AddressBlock> blocks_;  // by connection; empty without a limit by address
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_ACCEPTOR_H_
