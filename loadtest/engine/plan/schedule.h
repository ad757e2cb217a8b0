// When throws are due. Rate, seed and kind of arrivals fix all times before the run; nothing the
// relay does changes them.
//
// The n slices of a run share the rate: slice i has the throws i, i + n, i + 2n, … of the run, so
// the throws of all slices together are even too. Cost: O(1) a throw, nothing is stored.
#ifndef LOADTEST_ENGINE_PLAN_SCHEDULE_H_
#define LOADTEST_ENGINE_PLAN_SCHEDULE_H_

#include <cstdint>

#include "plan/random.h"
#include "plan/rate_curve.h"

namespace swarm {

enum class Arrivals : uint8_t {
  kEven,    // all gaps are equal
  kRandom,  // a Poisson process, like independent people
};

class Schedule {
 public:
  // `curve`: of all slices together. All throws are due in [from_ns, until_ns).
  Schedule(Arrivals arrivals, RateCurve curve, uint32_t slice, uint32_t slices, uint64_t seed,
           int64_t from_ns, int64_t until_ns);
  // `rate`: throws a second of this slice, > 0.
  Schedule(Arrivals arrivals, double rate, uint32_t slice, uint32_t slices, uint64_t seed,
           int64_t from_ns, int64_t until_ns)
      : Schedule(arrivals, RateCurve(rate * slices), slice, slices, seed, from_ns, until_ns) {}

  // When the next throw is due; INT64_MAX when there are no more.
  int64_t due_ns() const { return due_ns_; }
  // Moves on to the throw after it.
  void Advance();

 private:
  void SetDue();
  // Throws of the run until the next one of this slice, where arrivals are random.
  double RandomGap();

  Arrivals arrivals_;
  RateCurve curve_;
  double
      number_;  // of the next throw, among those of the run; has a fraction where they are random
  uint32_t slices_;
  int64_t from_ns_;
  int64_t until_ns_;
  Random random_;
  int64_t due_ns_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_PLAN_SCHEDULE_H_
