// Where the JavaScript thread waits, for the work of libuv and of the front together, in one
// epoll_wait.
//
// Threads: all of it belongs to the thread of its uv_loop_t.
// Embedding: a prepare handle runs right before libuv would wait. It waits in the front's epoll
// set, of which libuv's set is a member, for at most as long as libuv would. It handles the front's
// events there, pass after pass, and returns to libuv as soon as libuv has work. So a request costs
// no turn of Node's loop (timers, check, poll: some microseconds), and Node's other work is not
// delayed. The price: performance.eventLoopUtilization() counts this waiting as active.
// Polling: the front's set is one descriptor in libuv's set (uv_poll). Used when several fronts
// share a loop, or when the running libuv is not the one this was compiled for, since embedding
// reads one private member of uv_loop_t.
// Rings: while this wait embeds the loop, it serves the links to other processes as well.
// Invariant: libuv's set and the front's set are never members of each other at the same time.
#ifndef SERVER_NATIVE_NODE_WAIT_H_
#define SERVER_NATIVE_NODE_WAIT_H_

#include <uv.h>

#include <functional>
#include <vector>

#include "io/native_front.h"
#include "ring_set.h"

namespace sprites {

class NodeWait {
 public:
  // All waits of one uv_loop_t. Only a single one may embed the loop.
  using Siblings = std::vector<NodeWait*>;

  // `rings` lives as long as the loop.
  NodeWait(uv_loop_t* loop, NativeFront* front, Siblings* siblings, RingSet* rings);
  NodeWait(const NodeWait&) = delete;
  NodeWait& operator=(const NodeWait&) = delete;

  // Starts waiting. Returns 0 or a negative uv error.
  int Start();
  // Call this after using the front outside a pass: schedules a pass if the front has work.
  void SchedulePass();
  // Calls `ended` once the front is over and all handles are closed. `this` must live until then.
  // REQUIRES: the front is stopped.
  void End(std::function<void()> ended);

 private:
  // After this many passes libuv gets its turn in any case, at 1/64 of its usual cost.
  static constexpr int kPassesMax = 64;
  static constexpr uint64_t kDeadlineStepMs = DeadlineWheel::kTickMs;

  static void OnPrepare(uv_prepare_t* handle);
  static void OnIdle(uv_idle_t* handle);
  static void OnPoll(uv_poll_t* handle, int status, int events);
  static void OnTimer(uv_timer_t* handle);
  static void OnClosed(uv_handle_t* handle);
  void PassWhileIdle();
  void PassAll();
  int StartEmbedding();
  void StopEmbedding();
  int StartPolling();
  void EndIfOver();
  bool HasPendingWatchers() const;

  uv_loop_t* const loop_;
  NativeFront* const front_;
  Siblings* const siblings_;
  RingSet* const rings_;
  uv_prepare_t prepare_;
  uv_idle_t idle_;  // active while libuv runs, so that libuv polls without waiting
  uv_poll_t poll_;
  uv_timer_t timer_;
  bool is_embedding_ = false;
  bool is_polling_ = false;
  bool is_inside_ = false;  // in a pass
  int open_handles_ = 0;
  std::function<void()> ended_;
};

}  // namespace sprites

#endif  // SERVER_NATIVE_NODE_WAIT_H_
