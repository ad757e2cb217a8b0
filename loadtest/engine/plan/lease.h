// The lease that a relay grants a desktop: how long it keeps one that does not poll. How soon the
// swarm polls again, and when it gives a relay up, follow from it. Cost: O(1) a call; O(tries) for
// LostTries.
#ifndef LOADTEST_ENGINE_PLAN_LEASE_H_
#define LOADTEST_ENGINE_PLAN_LEASE_H_

#include <algorithm>
#include <cstdint>

#include "wire/rules.h"

namespace swarm {

constexpr uint16_t kLeaseSeconds = rules::kLeaseMs / 1'000;  // of a relay that says none
constexpr int64_t kRetryMsMin = 50;
constexpr int64_t kRetryMsMax = 5'000;

// The whole seconds that a relay means, which may say anything: server/PROTOCOL.md, Join.
inline uint16_t LeaseSecondsOf(double said) {
  return static_cast<uint16_t>(
      std::clamp<double>(said, rules::kLeaseSecondsMin, rules::kLeaseSecondsMax));
}

// The pause after so many failures in a row, before jitter.
inline int64_t RetryMs(uint8_t tries, int64_t longest_ms = kRetryMsMax) {
  return std::min(kRetryMsMin << std::min<uint8_t>(tries, 10), longest_ms);
}

// The longest pause between two polls.
inline int64_t PollPauseMsMax(uint16_t lease_seconds) {
  return std::min(kRetryMsMax, int64_t{lease_seconds} * 1'000 / rules::kPausesPerLease);
}

// Failures in a row after which the relay of a desktop counts as gone: their pauses take
// rules::kLostLeases.
inline uint8_t LostTries(uint16_t lease_seconds) {
  int64_t left_ms = int64_t{lease_seconds} * 1'000 * rules::kLostLeases;
  uint8_t tries = 0;
  while (left_ms > 0 && tries < UINT8_MAX) {
    left_ms -= RetryMs(tries++, PollPauseMsMax(lease_seconds));
  }
  return tries;
}

}  // namespace swarm

#endif  // LOADTEST_ENGINE_PLAN_LEASE_H_
