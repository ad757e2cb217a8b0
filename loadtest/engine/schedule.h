// When throws are due: a list fixed before the run by rate, seed and kind, and never moved by what
// the relay does.
//
// The n slices of a run share the rate; slice i starts i/n of a gap later, so that even gaps stay
// even in the sum. Cost: O(1) a throw, nothing stored.
#ifndef LOADTEST_ENGINE_SCHEDULE_H_
#define LOADTEST_ENGINE_SCHEDULE_H_

#include <cstdint>

#include "random.h"

namespace swarm {

enum class Arrivals : uint8_t {
  kEven,    // one gap is as long as the other
  kRandom,  // a Poisson process: as independent people throw
};

class Schedule {
 public:
  // `rate`: throws a second of this slice, > 0. The first is due at `from_ns` or after it, the last
  // before `until_ns`.
  Schedule(Arrivals arrivals, double rate, uint32_t slice, uint32_t slices, uint64_t seed,
           int64_t from_ns, int64_t until_ns);

  // When the next throw is due; INT64_MAX when there is none.
  int64_t due_ns() const { return due_ns_; }
  // Goes on to the one after it.
  void Advance();

 private:
  double Gap();

  Arrivals arrivals_;
  double gap_ns_;
  double offset_ns_;  // from from_ns; a double, so that even gaps of a fraction of a nanosecond do
                      // not drift
  uint64_t steps_ = 0;
  int64_t from_ns_;
  int64_t until_ns_;
  Random random_;
  int64_t due_ns_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_SCHEDULE_H_
