#include "plan/rate_curve.h"

#include <doctest/doctest.h>

#include <cmath>

#include "plan/clock.h"
#include "plan/schedule.h"

namespace swarm {

TEST_CASE("rate curve: a constant rate has even gaps for ever") {
  const RateCurve curve(1000);
  CHECK_EQ(curve.NsAt(0), 0);
  CHECK_EQ(curve.NsAt(7), 7.0 * kNsPerMs);
  CHECK_EQ(curve.CountAt(3600), 3'600'000);
}

TEST_CASE("rate curve: a ramp, a plateau, a jump and a ramp down have the area of their drawing") {
  const RateCurve curve({{10, 1000}, {10, 1000}, {0, 3000}, {10, 0}});
  CHECK_EQ(curve.CountAt(10), 5000);
  CHECK_EQ(curve.CountAt(20), 15'000);
  CHECK_EQ(curve.CountAt(30), 30'000);
  CHECK_EQ(curve.CountAt(99), 30'000);
  CHECK_EQ(curve.CountAt(0), 0);
  CHECK_EQ(curve.NsAt(5000), 10.0 * kNsPerSecond);
  CHECK_EQ(curve.NsAt(10'000), 15.0 * kNsPerSecond);
  CHECK(std::isinf(curve.NsAt(30'001)));
}

TEST_CASE("rate curve: the time of a throw and the count at that time are inverse to each other") {
  const RateCurve curve({{3, 50}, {2, 400}, {0, 100}, {5, 100}, {4, 7}});
  for (double n = 0.5; n < curve.CountAt(14); n += 3.7) {
    CHECK(curve.CountAt(curve.NsAt(n) / kNsPerSecond) == doctest::Approx(n).epsilon(1e-9));
  }
}

TEST_CASE("rate curve: a stage without throws is a pause") {
  const RateCurve curve({{0, 10}, {1, 10}, {0, 0}, {5, 0}, {0, 10}, {1, 10}});
  CHECK_EQ(curve.CountAt(7), 20);
  CHECK_EQ(curve.NsAt(9), 900.0 * kNsPerMs);
  CHECK_EQ(curve.NsAt(10), 6.0 * kNsPerSecond);
}

TEST_CASE("schedule: slices share a ramp, and together have as many throws as it has") {
  for (const Arrivals arrivals : {Arrivals::kEven, Arrivals::kRandom}) {
    uint64_t throws = 0;
    uint64_t in_first_half = 0;
    for (uint32_t slice = 0; slice < 3; ++slice) {
      Schedule schedule(arrivals, RateCurve({{10, 2000}}), slice, 3, 1, 0, 10 * kNsPerSecond);
      int64_t last_ns = 0;
      for (; schedule.due_ns() != INT64_MAX; schedule.Advance()) {
        CHECK(schedule.due_ns() >= last_ns);
        last_ns = schedule.due_ns();
        ++throws;
        in_first_half += last_ns < 5 * kNsPerSecond ? 1 : 0;
      }
    }
    // Six standard deviations of 10,000 where arrivals are random.
    const double spread = arrivals == Arrivals::kEven ? 1 : 600;
    CHECK(std::abs(static_cast<double>(throws) - 10'000) <= spread);
    CHECK(std::abs(static_cast<double>(in_first_half) - 2500) <= spread);
  }
}

}  // namespace swarm
