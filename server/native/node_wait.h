// Where the JavaScript thread waits: for libuv's work and the front's together, in one epoll_wait.
//
// Threads: all of it belongs to the thread of its uv_loop_t.
// Riding: a prepare handle runs right before libuv would wait. It waits in the front's epoll set,
// of which libuv's own is a member, no longer than libuv would, and serves the front's events
// there, pass after pass; it returns to libuv as soon as libuv has anything to do. So a request
// costs no turn of Node's loop (timers, check, poll: some microseconds), and Node's other work is
// as prompt as ever. What it costs: performance.eventLoopUtilization() counts this waiting as
// active. Polling: the front's set is one descriptor to libuv (uv_poll). Used when several fronts
// share a loop, or when libuv is not the one this was compiled for, since riding looks at one
// private member of uv_loop_t. Invariant: libuv's set and the front's are never members of one
// another at the same time.
#ifndef SERVER_NATIVE_NODE_WAIT_H_
#define SERVER_NATIVE_NODE_WAIT_H_

#include <uv.h>

#include <functional>
#include <vector>

#include "native_front.h"

namespace sprites {

class NodeWait {
 public:
  // All waits of one uv_loop_t: whether one of them may ride depends on the others.
  using Siblings = std::vector<NodeWait*>;

  NodeWait(uv_loop_t* loop, NativeFront* front, Siblings* siblings);
  NodeWait(const NodeWait&) = delete;
  NodeWait& operator=(const NodeWait&) = delete;

  // Begins to wait. 0 or a negative uv error.
  int Start();
  // Something was done to the front outside a pass that may need one.
  void Nudge();
  // Calls `ended` once the front is over and all handles are closed. The front has to be stopped;
  // `this` stays until then.
  void End(std::function<void()> ended);

  bool is_riding() const { return is_riding_; }

 private:
  // After so many passes libuv has its turn in any case: some 1 % of its cost is left.
  static constexpr int kPassesMax = 64;
  static constexpr uint64_t kDeadlineStepMs = DeadlineWheel::kTickMs;

  static void OnPrepare(uv_prepare_t* handle);
  static void OnIdle(uv_idle_t* handle);
  static void OnPoll(uv_poll_t* handle, int status, int events);
  static void OnTimer(uv_timer_t* handle);
  static void OnClosed(uv_handle_t* handle);
  void Ride();
  void PassAll();
  int StartRiding();
  void StopRiding();
  int StartPolling();
  void EndIfOver();
  bool HasPendingWatchers() const;

  uv_loop_t* const loop_;
  NativeFront* const front_;
  Siblings* const siblings_;
  uv_prepare_t prepare_;
  uv_idle_t idle_;  // active while libuv is not being ridden, so that it looks without waiting:
                    // waiting is done here
  uv_poll_t poll_;
  uv_timer_t timer_;
  bool is_riding_ = false;
  bool is_polling_ = false;
  bool is_inside_ = false;  // a pass is under way
  int open_handles_ = 0;
  std::function<void()> ended_;
};

}  // namespace sprites

#endif  // SERVER_NATIVE_NODE_WAIT_H_
