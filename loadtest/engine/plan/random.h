// A small seeded generator (SplitMix64): the same seed gives the same numbers. Not for secrets.
#ifndef LOADTEST_ENGINE_PLAN_RANDOM_H_
#define LOADTEST_ENGINE_PLAN_RANDOM_H_

#include <cstdint>

namespace swarm {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15U;

// Every bit of the result depends on every bit of `value`.
inline uint64_t Mixed(uint64_t value) {
  value += kGolden;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

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
