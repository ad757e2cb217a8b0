#include "account/histogram.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "plan/random.h"

namespace swarm {

TEST_CASE("histogram: each value is within the bounds of its bucket, and there are no gaps") {
  for (uint64_t bit = 0; bit < 41; ++bit) {
    for (const int64_t near : {-1, 0, 1}) {
      const uint64_t value = (uint64_t{1} << bit) + static_cast<uint64_t>(near);
      const size_t index = Histogram::IndexOf(value);
      CHECK(index < Histogram::kBuckets);
      CHECK(Histogram::LowerBound(index) <= value);
      CHECK(Histogram::UpperBound(index) >= value);
    }
  }
  for (size_t i = 1; i < Histogram::kBuckets; ++i) {
    CHECK_EQ(Histogram::LowerBound(i), Histogram::UpperBound(i - 1) + 1);
  }
  CHECK_EQ(Histogram::UpperBound(Histogram::kBuckets - 1), Histogram::kValueMax);
}

TEST_CASE("histogram: is empty at first, then holds one value exactly, and clips larger values") {
  auto histogram = std::make_unique<Histogram>();
  CHECK_EQ(histogram->Percentile(0.5), 0U);
  histogram->Record(1'234'567);
  CHECK_EQ(histogram->Percentile(0.5), 1'234'567U);
  CHECK_EQ(histogram->Percentile(1), 1'234'567U);
  histogram->Record(UINT64_MAX);
  CHECK_EQ(histogram->max(), Histogram::kValueMax);
  CHECK_EQ(histogram->count(), 2U);
}

TEST_CASE("histogram: the error of a percentile is at most 0.4 %, also after merging") {
  const uint64_t seed = 20'261'121;
  Random random(seed);
  std::vector<uint64_t> values;
  auto a = std::make_unique<Histogram>();
  auto b = std::make_unique<Histogram>();
  for (int i = 0; i < 100'000; ++i) {
    const auto value = static_cast<uint64_t>(std::exp(random.Unit() * 25));
    values.push_back(value);
    (i % 3 == 0 ? a : b)->Record(value);
  }
  a->Merge(*b);
  std::sort(values.begin(), values.end());
  for (const double share : {0.001, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<size_t>(std::ceil(share * 100'000)) - 1;
    const auto exact = static_cast<double>(values[rank]);
    const double error = std::abs(static_cast<double>(a->Percentile(share)) - exact);
    CAPTURE(seed);
    CAPTURE(share);
    CHECK(error <= exact * 0.004);
  }
  CHECK_EQ(a->max(), values.back());
  CHECK_EQ(a->count(), values.size());
}

TEST_CASE("histogram: a difference holds only the values recorded in between") {
  auto before = std::make_unique<Histogram>();
  auto now = std::make_unique<Histogram>();
  auto grown = std::make_unique<Histogram>();
  before->Record(1'000'000);
  now->Merge(*before);
  now->Record(50);
  grown->AssignDifference(*now, *before);
  CHECK_EQ(grown->count(), 1U);
  CHECK_EQ(grown->Percentile(0.99), 50U);
  CHECK_EQ(grown->max(), 50U);
}

}  // namespace swarm
