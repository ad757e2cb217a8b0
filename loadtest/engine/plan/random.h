// A small seeded generator (SplitMix64): the same seed gives the same numbers. Not for secrets.
#ifndef LOADTEST_ENGINE_PLAN_RANDOM_H_
#define LOADTEST_ENGINE_PLAN_RANDOM_H_

#include <cstdint>

#include "account/mixed_bits.h"

namespace swarm {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    const uint64_t number = Mixed(state_);
    state_ += kGolden;
    return number;
  }

  // Returns a number in [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11U) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_PLAN_RANDOM_H_
