#include "account/histogram.h"

#include <algorithm>
#include <cmath>

namespace swarm {

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) {
    Bump(buckets_[i], other.buckets_[i].load(std::memory_order_relaxed));
  }
  Bump(count_, other.count());
  Bump(sum_, other.sum_.load(std::memory_order_relaxed));
  max_.store(std::max(max(), other.max()), std::memory_order_relaxed);
}

void Histogram::AssignDifference(const Histogram& now, const Histogram& before) {
  uint64_t count = 0;
  uint64_t highest = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    const uint64_t grown = now.buckets_[i].load(std::memory_order_relaxed) -
                           before.buckets_[i].load(std::memory_order_relaxed);
    buckets_[i].store(grown, std::memory_order_relaxed);
    count += grown;
    if (grown != 0) {
      highest = UpperBound(i);
    }
  }
  // The count is the sum of the buckets, because a copy may have been made after the writer changed
  // a bucket and before it changed the count.
  count_.store(count, std::memory_order_relaxed);
  sum_.store(now.sum_.load(std::memory_order_relaxed) - before.sum_.load(std::memory_order_relaxed),
             std::memory_order_relaxed);
  max_.store(std::min(highest, now.max()), std::memory_order_relaxed);
}

uint64_t Histogram::Percentile(double share) const {
  const uint64_t total = count();
  if (total == 0) {
    return 0;
  }
  const auto rank =
      std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(share * static_cast<double>(total))));
  if (rank == total) {
    return max();  // the highest value is known exactly
  }
  uint64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen += buckets_[i].load(std::memory_order_relaxed);
    if (seen >= rank) {
      return std::min((LowerBound(i) + UpperBound(i)) / 2, max());
    }
  }
  return max();
}

double Histogram::mean() const {
  const uint64_t total = count();
  return total == 0 ? 0
                    : static_cast<double>(sum_.load(std::memory_order_relaxed)) /
                          static_cast<double>(total);
}

}  // namespace swarm
