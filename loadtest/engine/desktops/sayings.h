// The sayings: when, by which desktop, and how the relay responded.
//
// Talking desktops speak in turn, at an even or random pace. Each says one thing at a time: when
// the relay has not answered its last saying, the next one is skipped. A saying whose connection
// breaks is sent again under the same number. It goes by a connection of its speaker to the API, or
// on the speaker's socket; what happened there comes as news. Invariant: due = said + skipped; said
// = accepted + refused + timed out + failed + unanswered. Threads: one.
#ifndef LOADTEST_ENGINE_DESKTOPS_SAYINGS_H_
#define LOADTEST_ENGINE_DESKTOPS_SAYINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "desktops/slice_state.h"
#include "plan/schedule.h"

namespace swarm {

class Sayings {
 public:
  explicit Sayings(SliceState& slice);

  // Talking starts at `from_ns` and ends at `until_ns`.
  void Begin(int64_t from_ns, int64_t until_ns);
  // Says what is due; what is due too late is skipped.
  void Turn(int64_t now_ns);
  int64_t NextDue() const { return schedule_ ? schedule_->due_ns() : INT64_MAX; }
  void OnEvent(uint32_t talker, uint32_t events) {
    slice_.HandleEvent(talkers_[talker].connection, events, *this, talker);
  }
  // The pause of a talker is over.
  void Retry(uint32_t talker) { Send(talker); }
  // Gives up sayings that were not answered in time.
  void Sweep(int64_t now_ns);

  // Called by SliceState::HandleEvent.
  void OnOpen(uint32_t talker) { Send(talker); }
  void OnOpenFailed(uint32_t talker) { OnBroken(talker); }
  void OnResponse(uint32_t talker, const HttpResponse& response);
  void OnBroken(uint32_t talker);
  // Sockets: the verdict on a saying, by its number.
  void OnMessage(uint32_t talker, const Verdict& verdict);

 private:
  struct Talker {
    Connection connection;
    int64_t due_ns = 0;
    uint64_t number = 0;  // of its saying in this slice
    uint64_t saying = 0;  // the same for the relay
    uint32_t desktop = 0;
    uint32_t identity = 0;  // of its desktop when the saying was sent first
    uint8_t endpoint = Endpoints::kUnknown;
    uint8_t sends = 0;  // of this saying
    uint8_t tries = 0;
    bool speaks = false;   // its saying is not settled
    bool on_wire = false;  // of this: a request is out
  };

  void Say(uint32_t talker, int64_t due_ns);
  // Sends what the talker says, as soon as that is possible.
  void Send(uint32_t talker);
  // Whether its desktop may send now. If not, something will call Send.
  bool IsReady(uint32_t talker);
  void WriteBody(const Talker& talker);
  void Settle(uint32_t talker, uint64_t Counters::*fate);
  void OnVerdict(uint32_t talker, const Verdict& verdict);

  SliceState& slice_;
  std::vector<Talker> talkers_;
  std::optional<Schedule> schedule_;
  int64_t until_ns_ = 0;
  uint32_t next_talker_ = 0;
  uint64_t next_number_ = 0;
  std::string body_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DESKTOPS_SAYINGS_H_
