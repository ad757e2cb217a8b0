#include "plan/schedule.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "plan/clock.h"

namespace swarm {
namespace {

std::vector<int64_t> All(Schedule schedule) {
  std::vector<int64_t> due;
  for (; schedule.due_ns() != INT64_MAX; schedule.Advance()) {
    due.push_back(schedule.due_ns());
  }
  return due;
}

}  // namespace

TEST_CASE("schedule: even throws are due at even gaps, up to the end and not after it") {
  const std::vector<int64_t> due =
      All(Schedule(Arrivals::kEven, 1000, 0, 1, 1, 500, 500 + kNsPerSecond));
  CHECK_EQ(due.size(), 1000U);
  for (size_t i = 0; i < due.size(); ++i) {
    CHECK_EQ(due[i], 500 + static_cast<int64_t>(i) * kNsPerMs);
  }
}

TEST_CASE("schedule: a rate that does not divide the second does not drift") {
  const std::vector<int64_t> due =
      All(Schedule(Arrivals::kEven, 60'000.0 / 7, 0, 1, 1, 0, 70 * kNsPerSecond));
  CHECK_EQ(due.size(), 600'000U);
}

TEST_CASE("schedule: the throws of all slices together have even gaps too") {
  const std::vector<int64_t> first = All(Schedule(Arrivals::kEven, 10, 0, 2, 1, 0, kNsPerSecond));
  const std::vector<int64_t> second = All(Schedule(Arrivals::kEven, 10, 1, 2, 1, 0, kNsPerSecond));
  CHECK_EQ(first[0], 0);
  CHECK_EQ(second[0], 50 * kNsPerMs);
  CHECK_EQ(first[1], 100 * kNsPerMs);
}

TEST_CASE(
    "schedule: random throws keep the rate, scatter like a Poisson process and depend only on the "
    "seed") {
  const auto make = [](uint64_t seed) {
    return All(Schedule(Arrivals::kRandom, 10'000, 0, 1, seed, 0, 10 * kNsPerSecond));
  };
  const std::vector<int64_t> due = make(7);
  // Six standard deviations of 100,000.
  CHECK(std::abs(static_cast<double>(due.size()) - 100'000) < 6 * std::sqrt(100'000.0));
  CHECK(due == make(7));
  CHECK(due != make(8));
  size_t short_gaps = 0;
  for (size_t i = 1; i < due.size(); ++i) {
    if (due[i] - due[i - 1] < 69'315) {
      ++short_gaps;  // ln 2 of the mean: half of the gaps are shorter
    }
  }
  CHECK(std::abs(static_cast<double>(short_gaps) - 50'000) < 2'000);
}

TEST_CASE("schedule: is empty when no throw is due before the end") {
  CHECK_EQ(All(Schedule(Arrivals::kEven, 1, 1, 2, 1, 0, kNsPerSecond / 4)).size(), 0U);
}

}  // namespace swarm
