// When those act who do more than hold their poll: who storms all at the same moments, who churns
// and who is hostile each at moments of their own, one every --act-every.
//
// Invariant: one entry in the calendar for each of them, from the first throw until the drain.
#ifndef LOADTEST_ENGINE_ACTS_H_
#define LOADTEST_ENGINE_ACTS_H_

#include <cstdint>

#include "hostiles.h"
#include "polls.h"
#include "stage.h"

namespace swarm {

class Acts {
 public:
  Acts(Stage& stage, Polls& polls, Hostiles& hostiles)
      : stage_(stage), polls_(polls), hostiles_(hostiles) {}

  void Begin(int64_t from_ns);
  void Do(uint32_t index, int64_t now_ns);

 private:
  int64_t EveryNs() const {
    return static_cast<int64_t>(stage_.options.act_every_s * kNsPerSecond);
  }

  Stage& stage_;
  Polls& polls_;
  Hostiles& hostiles_;
  int64_t from_ns_ = 0;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_ACTS_H_
