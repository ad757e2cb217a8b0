// A log-linear histogram of latencies: 128 buckets an octave, so the error of a percentile is at
// most 1/256 (0.4 %).
//
// Merging adds buckets, so the percentiles of many slices are those of one list of all values.
// Threads: one writer (the slice it belongs to); any process that maps it may read meanwhile, and
// reads each bucket whole. Memory: 36 KiB, without pointers, so it can be in shared memory. Cost:
// Record is some ten instructions; Percentile and Merge read all buckets.
#ifndef LOADTEST_ENGINE_ACCOUNT_HISTOGRAM_H_
#define LOADTEST_ENGINE_ACCOUNT_HISTOGRAM_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace swarm {

class Histogram {
 public:
  static constexpr unsigned kSubBits = 7;  // 2^7 buckets an octave
  // In ns, 36 minutes. A larger value is recorded as this.
  static constexpr uint64_t kValueMax = (uint64_t{1} << 41U) - 1;
  static constexpr size_t kBuckets = (41 - kSubBits + 1) << kSubBits;

  void Record(uint64_t value) {
    if (value > kValueMax) {
      value = kValueMax;
    }
    Bump(buckets_[IndexOf(value)], 1);
    Bump(count_, 1);
    Bump(sum_, value);
    if (value > max_.load(std::memory_order_relaxed)) {
      max_.store(value, std::memory_order_relaxed);
    }
  }

  void Merge(const Histogram& other);

  // Sets this to the values that `now` has and `before`, an earlier copy of it, has not. The
  // maximum becomes that of the highest bucket that grew.
  void AssignDifference(const Histogram& now, const Histogram& before);

  // Returns the value that a `share` (0…1) of all values do not exceed; 0 when there are no values.
  uint64_t Percentile(double share) const;

  uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  uint64_t max() const { return max_.load(std::memory_order_relaxed); }
  double mean() const;

  // Calls visit(lower bound, upper bound, count) for each bucket that is not empty, in ascending
  // order.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    for (size_t i = 0; i < kBuckets; ++i) {
      const uint64_t count = buckets_[i].load(std::memory_order_relaxed);
      if (count != 0) {
        visit(LowerBound(i), UpperBound(i), count);
      }
    }
  }

  static size_t IndexOf(uint64_t value) {
    const unsigned octave = value < (1U << kSubBits) ? 0 : std::bit_width(value) - kSubBits;
    // Octave 0 is exact (0…127); octave k ≥ 1 holds [2^(k+6), 2^(k+7)) in 128 buckets.
    return octave == 0 ? value
                       : (static_cast<size_t>(octave) << kSubBits) +
                             ((value >> (octave - 1)) - (uint64_t{1} << kSubBits));
  }
  static uint64_t LowerBound(size_t index) {
    const size_t octave = index >> kSubBits;
    const uint64_t within = index & ((1U << kSubBits) - 1);
    return octave == 0 ? within : ((uint64_t{1} << kSubBits) + within) << (octave - 1);
  }
  static uint64_t UpperBound(size_t index) {
    const size_t octave = index >> kSubBits;
    return LowerBound(index) + (octave <= 1 ? 0 : (uint64_t{1} << (octave - 1)) - 1);
  }

 private:
  using Cell = std::atomic<uint64_t>;
  // There is one writer, so a load and a store do; no locked instruction is needed.
  static void Bump(Cell& cell, uint64_t by) {
    cell.store(cell.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  std::array<Cell, kBuckets> buckets_{};
  Cell count_{0};
  Cell sum_{0};
  Cell max_{0};
};

// The latencies of a run, of what was due in the measured window: from when it was due.
struct Latencies {
  Histogram latency;  // until it was delivered
  Histogram away;     // the same, where desktops that storm, churn or read late caught it
  Histogram answer;   // until the 202
  Histogram slip;     // until it was handled: how late the swarm itself was
  Histogram hearing;  // of sayings: until they were heard, by desktops as of `latency`
};
constexpr std::array<std::pair<std::string_view, Histogram Latencies::*>, 5> kLatencies = {
    {{"latency", &Latencies::latency},
     {"away", &Latencies::away},
     {"answer", &Latencies::answer},
     {"slip", &Latencies::slip},
     {"hearing", &Latencies::hearing}}};

static_assert(sizeof(Histogram) <= 40'960);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

}  // namespace swarm

#endif  // LOADTEST_ENGINE_ACCOUNT_HISTOGRAM_H_
