// When storming, churning and hostile desktops act, every `actEvery`: storming desktops all at the
// same moments, churning and hostile ones each at moments of its own.
//
// Invariant: the calendar has one entry for each of them from the first throw until the drain.
#ifndef LOADTEST_ENGINE_DESKTOPS_ACTS_H_
#define LOADTEST_ENGINE_DESKTOPS_ACTS_H_

#include <cstdint>

#include "desktops/hostiles.h"
#include "desktops/polls.h"
#include "desktops/slice_state.h"

namespace swarm {

class Acts {
 public:
  Acts(SliceState& slice, Polls& polls, Hostiles& hostiles)
      : slice_(slice), polls_(polls), hostiles_(hostiles) {}

  // Schedules the first act of each desktop that acts.
  void Begin(int64_t from_ns);
  void Act(uint32_t index, int64_t now_ns);

 private:
  int64_t EveryNs() const { return Ns(slice_.options.act_every_s); }

  SliceState& slice_;
  Polls& polls_;
  Hostiles& hostiles_;
  int64_t from_ns_ = 0;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DESKTOPS_ACTS_H_
