#include "plan/rate_curve.h"

#include <cmath>
#include <limits>

#include "plan/clock.h"

namespace swarm {

RateCurve::RateCurve(double rate) {
  pieces_.push_back({0, 0, rate, 0, std::numeric_limits<double>::infinity()});
}

RateCurve::RateCurve(const std::vector<Stage>& stages) {
  double rate = 0;
  double at_s = 0;
  double count = 0;
  for (const Stage& stage : stages) {
    if (stage.seconds > 0) {
      pieces_.push_back({at_s, count, rate, (stage.rate - rate) / stage.seconds, stage.seconds});
      at_s += stage.seconds;
      count += (rate + stage.rate) / 2 * stage.seconds;
    }
    rate = stage.rate;
  }
}

double RateCurve::NsAt(double n) const {
  for (const Piece& piece : pieces_) {
    const double within = n - piece.from_count;
    const double all = (piece.rate + piece.slope * piece.seconds / 2) * piece.seconds;
    if (piece.slope != 0 ? within > all : within >= all) {
      continue;
    }
    if (piece.slope == 0) {
      // By the gap, so that throws at a whole rate are due at whole nanoseconds.
      return piece.from_s * kNsPerSecond + within * (kNsPerSecond / piece.rate);
    }
    // rate × x + slope / 2 × x² = within, solved in the form that loses no digits.
    const double root = std::sqrt(std::fmax(0, piece.rate * piece.rate + 2 * piece.slope * within));
    const double x = within == 0 ? 0 : 2 * within / (piece.rate + root);
    return (piece.from_s + x) * kNsPerSecond;
  }
  return std::numeric_limits<double>::infinity();
}

double RateCurve::CountAt(double seconds) const {
  double count = 0;
  for (const Piece& piece : pieces_) {
    const double x = std::fmin(seconds - piece.from_s, piece.seconds);
    if (x <= 0) {
      break;
    }
    count = piece.from_count + piece.rate * x + piece.slope / 2 * x * x;
  }
  return count;
}

}  // namespace swarm
