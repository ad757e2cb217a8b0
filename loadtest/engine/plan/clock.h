// The clock of a run: CLOCK_MONOTONIC. All processes of a machine share it, so the latency of a
// sprite that one slice throws and another catches can be measured. Cost: one vDSO call, some 25
// ns.
#ifndef LOADTEST_ENGINE_PLAN_CLOCK_H_
#define LOADTEST_ENGINE_PLAN_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace swarm {

constexpr int64_t kNsPerUs = 1'000;
constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kNsPerSecond = 1'000'000'000;

inline int64_t Ns(double seconds) { return static_cast<int64_t>(seconds * kNsPerSecond); }

inline int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

// Wall-clock time: for labels, never for durations.
inline uint64_t WallMs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec / kNsPerMs);
}

}  // namespace swarm

#endif  // LOADTEST_ENGINE_PLAN_CLOCK_H_
