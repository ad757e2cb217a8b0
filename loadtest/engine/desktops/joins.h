// Joining and leaving: a few keep-alive connections to the API port, one request at a time on each.
//
// New desktops start at the wanted rate, and only while few sockets are connecting. A desktop that
// the relay rejected or ended joins again after a pause. Threads: one.
#ifndef LOADTEST_ENGINE_DESKTOPS_JOINS_H_
#define LOADTEST_ENGINE_DESKTOPS_JOINS_H_

#include <array>
#include <cstdint>
#include <deque>

#include "desktops/polls.h"
#include "desktops/slice_state.h"

namespace swarm {

class Joins {
 public:
  Joins(SliceState& slice, Polls& polls) : slice_(slice), polls_(polls) { SkipHostile(); }

  void Turn(int64_t now_ns);
  // When Turn has work that no event announces; INT64_MAX when it has none.
  int64_t NextDue() const;
  void OnEvent(uint32_t joiner, uint32_t events) {
    slice_.HandleEvent(joiners_[joiner].connection, events, *this, joiner);
  }
  // The pause of a desktop that could not join is over.
  void Retry(uint32_t desktop) {
    if (!leaving_) {
      queue_.push_back(desktop);
    }
  }
  // From now on desktops leave and none join.
  void BeginLeaving();
  // Closes connections whose response is overdue.
  void Sweep(int64_t now_ns);

  // Called by SliceState::HandleEvent.
  void OnOpen(uint32_t joiner);
  void OnOpenFailed(uint32_t joiner) { Fail(joiner); }
  void OnResponse(uint32_t joiner, const HttpResponse& response);
  void OnBroken(uint32_t joiner);

 private:
  static constexpr uint32_t kNoDesktop = UINT32_MAX;
  static constexpr int64_t kResponseTimeoutNs = 30 * kNsPerSecond;

  // A connection, and the desktop it serves at the moment.
  struct Joiner {
    Connection connection;
    uint8_t endpoint = Endpoints::kUnknown;  // of the connection
    uint32_t desktop = kNoDesktop;
    bool request_sent = false;
    bool leaving = false;  // the request was to leave
    int64_t since_ns = 0;
  };

  bool PopNext(int64_t now_ns, uint32_t* desktop);
  // The best idle joiner for a relay: one that is connected to it, else one that is not connected.
  // kJoinConnections when all are busy.
  uint32_t IdleFor(uint8_t endpoint) const;
  void BeginRequest(uint32_t joiner, int64_t now_ns);
  void SendRequest(uint32_t joiner);
  void OnLeaveResponse(uint32_t desktop, const HttpResponse& response);
  void SkipHostile();
  // Reads the response to a join into `desktop`. False: it is not what the protocol says.
  bool ReadJoin(uint32_t desktop, const HttpResponse& response);
  void Fail(uint32_t joiner);
  // When new desktop number `nth` is due.
  int64_t DueNs(uint64_t nth) const;

  SliceState& slice_;
  Polls& polls_;
  std::array<Joiner, kJoinConnections> joiners_;
  std::deque<uint32_t> queue_;  // desktops that join again, or leave
  uint32_t next_fresh_ = 0;     // the first desktop that has not tried to join yet
  bool leaving_ = false;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DESKTOPS_JOINS_H_
