// When throws are due. Rate, seed and kind of arrivals fix all times before the run; nothing the
// relay does changes them.
//
// The n slices of a run share the rate. Slice i starts i/n of a gap later, so that the throws of
// all slices together have even gaps too. Cost: O(1) a throw, nothing is stored.
#ifndef LOADTEST_ENGINE_SCHEDULE_H_
#define LOADTEST_ENGINE_SCHEDULE_H_

#include <cstdint>

#include "random.h"

namespace swarm {

enum class Arrivals : uint8_t {
  kEven,    // all gaps are equal
  kRandom,  // a Poisson process, like independent people
};

class Schedule {
 public:
  // `rate`: throws a second of this slice, > 0. All throws are due in [from_ns, until_ns).
  Schedule(Arrivals arrivals, double rate, uint32_t slice, uint32_t slices, uint64_t seed,
           int64_t from_ns, int64_t until_ns);

  // When the next throw is due; INT64_MAX when there are no more.
  int64_t due_ns() const { return due_ns_; }
  // Moves on to the throw after it.
  void Advance();

 private:
  double Gap();

  Arrivals arrivals_;
  double gap_ns_;
  // From from_ns to the first throw (even) or the next one (random). A double, so that gaps with a
  // fraction of a nanosecond do not drift.
  double offset_ns_;
  uint64_t steps_ = 0;
  int64_t from_ns_;
  int64_t until_ns_;
  Random random_;
  int64_t due_ns_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_SCHEDULE_H_
