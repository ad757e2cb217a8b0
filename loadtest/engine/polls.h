// The long-polls: each joined desktop holds one, on a keep-alive connection of its own, and asks
// again at once.
//
// Invariant: polls_sent = polls_answered + polls_cut + polls_dropped + polls_held; a desktop has at
// most one poll out. Threads: one. Cost of an answered poll: one recv, one parse, one send.
//
// Who leaves does so when nothing is in doubt: with an answer in hand, whose sprites it does not
// take (not acknowledged, they go on to the next desktop), or when its poll has been out for so
// long that the relay has read its cursor. So a sprite is never taken here and forwarded as well.
#ifndef LOADTEST_ENGINE_POLLS_H_
#define LOADTEST_ENGINE_POLLS_H_

#include <cstdint>

#include "catches.h"
#include "stage.h"

namespace swarm {

class Polls {
 public:
  Polls(Stage& stage, Catches& catches) : stage_(stage), catches_(catches) {}

  // A desktop that has joined: connects, and asks.
  void Start(uint32_t index);
  void OnEvent(uint32_t index, uint32_t events);
  // Counts the polls that are out for too long; a part of the table each time, all of it in kSweeps
  // calls.
  void Sweep(int64_t now_ns);
  // Who is slow: reads what came.
  void ReadLate(uint32_t index);
  // Who storms: drops its connection, and comes back at once, with its cursor.
  void Reconnect(uint32_t index);
  // Who churns: leaves, as soon as nothing is in doubt. Answers after how many ns to call again:
  // `every_ns`, or sooner when it could not leave yet.
  int64_t GoAway(uint32_t index, int64_t now_ns, int64_t every_ns);
  // Gives up the poll of a desktop that has left.
  void Drop(uint32_t index);

 private:
  void Serve(uint32_t index, uint32_t events);
  void BeginLeaving(uint32_t index);
  void Ask(uint32_t index);
  void OnAnswer(uint32_t index, const HttpResponse& response);
  // False: the body is not what was agreed.
  bool OnEvents(uint32_t index, const HttpResponse& response);
  void OnRefused(uint32_t index, const HttpResponse& response);
  void Break(uint32_t index);
  void Unhold(Desktop& desktop);

  Stage& stage_;
  Catches& catches_;
  uint32_t sweep_ = 0;
  uint64_t overdue_so_far_ = 0;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_POLLS_H_
