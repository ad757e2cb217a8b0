// A number whose every bit depends on every bit of another one (SplitMix64). Not for secrets.
#ifndef LOADTEST_ENGINE_ACCOUNT_MIXED_BITS_H_
#define LOADTEST_ENGINE_ACCOUNT_MIXED_BITS_H_

#include <cstdint>

namespace swarm {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15U;

inline uint64_t Mixed(uint64_t value) {
  value += kGolden;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

}  // namespace swarm

#endif  // LOADTEST_ENGINE_ACCOUNT_MIXED_BITS_H_
