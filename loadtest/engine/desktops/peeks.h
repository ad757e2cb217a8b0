// The peeks: desktops that watch a neighbour, and the stages of those that are watched.
//
// Each peeking desktop has a tick a second. Every fifth one is a peek over one of its edges: the
// same again where it was accepted, else the next one. In the others it posts the stage of one of
// the desktops of this slice that are watched, of whatever behaviour, in turn: so each of these is
// posted about once a second. All go by a connection of its own to the API, also where desktops are
// on sockets. A stage has one sprite, whose number is the time: so it can't be predicted, the relay
// forwards every one, and a watcher notices older and other ones (SeenStages).
// Invariant: due = sent + skipped; sent = accepted + hidden + refused + failed + unanswered.
// Threads: one.
#ifndef LOADTEST_ENGINE_DESKTOPS_PEEKS_H_
#define LOADTEST_ENGINE_DESKTOPS_PEEKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "desktops/slice_state.h"

namespace swarm {

class Peeks {
 public:
  explicit Peeks(SliceState& slice);

  // Peeking starts at `from_ns` and ends at `until_ns`.
  void Begin(int64_t from_ns, int64_t until_ns);
  // A tick of this peeker is due.
  void Tick(uint32_t peeker, int64_t now_ns);
  void OnEvent(uint32_t peeker, uint32_t events) {
    slice_.HandleEvent(peekers_[peeker].connection, events, *this, peeker);
  }
  // Gives up requests that were not answered in time.
  void Sweep(int64_t now_ns);

  // Called by SliceState::HandleEvent.
  void OnOpen(uint32_t peeker) { Send(peeker); }
  void OnOpenFailed(uint32_t peeker) { OnBroken(peeker); }
  void OnResponse(uint32_t peeker, const HttpResponse& response);
  void OnBroken(uint32_t peeker);

 private:
  struct Peeker {
    Connection connection;
    int64_t next_ns = 0;
    int64_t since_ns = 0;  // of the request
    uint32_t desktop = 0;
    uint32_t asker = 0;  // the desktop that the request is of
    uint32_t ticks = 0;
    uint8_t endpoint = Endpoints::kUnknown;
    uint8_t edge = 0;
    bool asks = false;     // a request is not settled
    bool on_wire = false;  // of this: it was sent
    bool is_stage = false;
  };

  // The next desktop whose stage this peeker can post; kNoDesktop: there is none.
  uint32_t NextWatched(const Peeker& peeker);
  void Send(uint32_t peeker);
  void Settle(uint32_t peeker, uint64_t Counters::*fate);

  SliceState& slice_;
  std::vector<Peeker> peekers_;
  int64_t until_ns_ = 0;
  std::string body_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DESKTOPS_PEEKS_H_
