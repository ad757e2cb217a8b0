// The long-polls: each joined desktop holds one, on a keep-alive connection of its own, and sends
// the next as soon as one is answered.
//
// Invariant: polls_sent = polls_answered + polls_cut + polls_dropped + polls_held; a desktop has at
// most one poll out. Threads: one. Cost of an answered poll: one recv, one parse, one send.
//
// A desktop leaves only when no sprite can be counted twice: either when a batch has just arrived,
// whose sprites it does not count (it never acknowledges them, so they go on to the next desktop),
// or when its poll has been out for so long that the relay must have read its cursor. So a sprite
// is never counted here and forwarded as well.
#ifndef LOADTEST_ENGINE_POLLS_H_
#define LOADTEST_ENGINE_POLLS_H_

#include <cstdint>

#include "catches.h"
#include "slice_state.h"

namespace swarm {

class Polls {
 public:
  Polls(SliceState& slice, Catches& catches) : slice_(slice), catches_(catches) {}

  // Connects a joined desktop, if it must be, and sends its poll.
  void Start(uint32_t index);
  void OnEvent(uint32_t index, uint32_t events);
  // Counts the polls that have been out for too long. Each call looks at a part of the table;
  // kSweeps calls look at all of it.
  void Sweep(int64_t now_ns);
  // Slow desktops: reads what has arrived.
  void ReadLate(uint32_t index);
  // Storming desktops: closes the connection and reconnects at once, with the same cursor.
  void Reconnect(uint32_t index);
  // Churning desktops: leaves as soon as no sprite can be counted twice. Returns after how many ns
  // to call again: `every_ns`, or less when the desktop could not leave yet.
  int64_t TryLeave(uint32_t index, int64_t now_ns, int64_t every_ns);
  // Gives up the poll of a desktop that has left.
  void Drop(uint32_t index);

  // Called by SliceState::HandleEvent.
  void OnOpen(uint32_t index) { SendPoll(index); }
  void OnOpenFailed(uint32_t index);
  void OnResponse(uint32_t index, const HttpResponse& response);
  void OnBroken(uint32_t index);

 private:
  void BeginLeaving(uint32_t index);
  void SendPoll(uint32_t index);
  // False: the body is not what the protocol says.
  bool OnBatch(uint32_t index, const HttpResponse& response);
  void OnRefused(uint32_t index, const HttpResponse& response);
  void EndPoll(Desktop& desktop);

  SliceState& slice_;
  Catches& catches_;
  uint32_t sweep_ = 0;
  uint64_t overdue_so_far_ = 0;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_POLLS_H_
