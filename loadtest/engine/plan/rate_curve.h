// How many throws a second are wanted at each moment: a constant rate, or stages that ramp.
//
// A stage goes in a straight line from the rate before it to its own; the first one begins at 0. A
// stage of 0 seconds is a jump. Invariant: CountAt and NsAt are inverse to each other where the
// rate is not 0. Cost: O(stages).
#ifndef LOADTEST_ENGINE_PLAN_RATE_CURVE_H_
#define LOADTEST_ENGINE_PLAN_RATE_CURVE_H_

#include <cstdint>
#include <vector>

namespace swarm {

struct Stage {
  double seconds = 0;
  double rate = 0;  // throws a second at its end
};

class RateCurve {
 public:
  explicit RateCurve(double rate);
  explicit RateCurve(const std::vector<Stage>& stages);

  // After how many ns since the start throw number `n` (from 0, may have a fraction) is due;
  // infinity when there are not so many.
  double NsAt(double n) const;
  // How many throws are due in the first `seconds`.
  double CountAt(double seconds) const;

 private:
  struct Piece {
    double from_s = 0;
    double from_count = 0;
    double rate = 0;   // at its start, a second
    double slope = 0;  // a second, each second
    double seconds = 0;
  };

  std::vector<Piece> pieces_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_PLAN_RATE_CURVE_H_
