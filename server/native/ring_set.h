// All links of this process to others through shared memory, and the doorbell that the peers ring.
//
// Threads: all of it belongs to the thread of its uv_loop_t.
// Waiting: libuv watches the doorbell, or a native front does whose wait embeds the loop: then a
// frame costs no turn of Node's loop (see node_wait.h). The front's wait asks Sleep() before it
// waits and calls Receive() after it, so the doorbell rings only for a process that sleeps.
// Invariant: a link that has bytes is read before the thread sleeps.
#ifndef SERVER_NATIVE_RING_SET_H_
#define SERVER_NATIVE_RING_SET_H_

#include <uv.h>

#include <vector>

#include "io/native_front.h"
#include "ring/ring_link.h"

namespace sprites {

// One end of a link, as the set sees it.
class RingEnd {
 public:
  virtual ~RingEnd() = default;
  // Reads what has arrived, once, and writes what there was no room for. May remove any end from
  // the set.
  virtual void Receive() = 0;
  // Returns true when nothing has arrived, and the peer rings when something does.
  virtual bool Sleep() = 0;
};

class RingSet {
 public:
  explicit RingSet(uv_loop_t* loop) : loop_(loop) {}
  ~RingSet();
  RingSet(const RingSet&) = delete;
  RingSet& operator=(const RingSet&) = delete;

  // Makes the doorbell, unless there is one. Returns 0 or an errno.
  int Open();
  // Uses `doorbell`, which this set now owns; REQUIRES: there is none yet. Returns 0 or an errno.
  int Open(int doorbell);
  int doorbell() const { return doorbell_; }

  void Add(RingEnd* end);
  void Remove(RingEnd* end);

  // From now on `front` waits for the doorbell. Returns 0 or an errno.
  int Embed(NativeFront* front);
  // From now on libuv waits for it again.
  void EndEmbedding();

  // True when no link has bytes: the doorbell rings when that changes.
  bool Sleep();
  // Reads each link once.
  void Receive();

 private:
  // Reads in one call of libuv; what is left then waits for the next one.
  static constexpr int kReadsMax = 16;

  static void OnPoll(uv_poll_t* handle, int status, int events);
  void ReceiveAll();
  int Watch();
  // Makes the thread read the links soon, and then let them sleep: a peer rings only for a link
  // that sleeps.
  void LookSoon() const;
  int StartPolling();
  void StopPolling();

  uv_loop_t* const loop_;
  NativeFront* front_ = nullptr;
  uv_poll_t* poll_ = nullptr;
  int doorbell_ = -1;
  std::vector<RingEnd*> ends_;  // nullptr: removed during Receive()
  bool is_receiving_ = false;
};

}  // namespace sprites

#endif  // SERVER_NATIVE_RING_SET_H_
