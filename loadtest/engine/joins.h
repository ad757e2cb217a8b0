// Joining and leaving: a few keep-alive connections to the API port, one request at a time on each.
//
// New desktops are started at the agreed rate, and only while not too many sockets are connecting;
// who was refused or ended by the relay comes again, with a pause. Threads: one.
#ifndef LOADTEST_ENGINE_JOINS_H_
#define LOADTEST_ENGINE_JOINS_H_

#include <array>
#include <cstdint>
#include <deque>

#include "polls.h"
#include "stage.h"

namespace swarm {

class Joins {
 public:
  Joins(Stage& stage, Polls& polls) : stage_(stage), polls_(polls) { SkipHostile(); }

  void Turn(int64_t now_ns);
  // When Turn has something to do that no event announces; INT64_MAX when there is none.
  int64_t NextDue() const;
  void OnEvent(uint32_t joiner, uint32_t events);
  // The pause of a desktop that could not join is over.
  void Again(uint32_t desktop) { queue_.push_back(desktop); }
  // From now on desktops leave.
  void BeginLeaving();
  void Sweep(int64_t now_ns);

 private:
  static constexpr uint32_t kJoiners = 8;
  static constexpr uint32_t kNobody = UINT32_MAX;
  static constexpr int64_t kAnswerTimeoutNs = 30 * kNsPerSecond;

  struct Joiner {
    Connection connection;
    uint32_t desktop = kNobody;
    bool asked = false;
    bool leaving = false;  // what was asked
    int64_t since_ns = 0;
  };

  bool TakeNext(int64_t now_ns, uint32_t* desktop);
  void Serve(uint32_t joiner, int64_t now_ns);
  void Ask(uint32_t joiner);
  void OnAnswer(uint32_t joiner, const HttpResponse& response);
  void OnLeft(uint32_t desktop, const HttpResponse& response);
  void SkipHostile();
  bool Seat(uint32_t index, const HttpResponse& response);
  void Break(uint32_t joiner);
  void Failed(uint32_t joiner);
  bool ReachedRate(int64_t now_ns) const;
  int64_t DueOf(uint64_t nth) const;

  Stage& stage_;
  Polls& polls_;
  std::array<Joiner, kJoiners> joiners_;
  std::deque<uint32_t> queue_;  // again, or leaving
  uint32_t next_fresh_ = 0;
  bool leaving_ = false;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_JOINS_H_
