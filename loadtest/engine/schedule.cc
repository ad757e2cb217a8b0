#include "schedule.h"

#include <cmath>

#include "clock.h"

namespace swarm {

Schedule::Schedule(Arrivals arrivals, double rate, uint32_t slice, uint32_t slices, uint64_t seed,
                   int64_t from_ns, int64_t until_ns)
    : arrivals_(arrivals),
      gap_ns_(static_cast<double>(kNsPerSecond) / rate),
      offset_ns_(0),
      from_ns_(from_ns),
      until_ns_(until_ns),
      random_(seed + slice),
      due_ns_(0) {
  offset_ns_ = arrivals_ == Arrivals::kEven ? gap_ns_ * slice / slices : Gap();
  due_ns_ = from_ns_ + static_cast<int64_t>(offset_ns_);
  if (due_ns_ >= until_ns_) {
    due_ns_ = INT64_MAX;
  }
}

void Schedule::Advance() {
  if (due_ns_ == INT64_MAX) {
    return;
  }
  double offset = 0;
  if (arrivals_ == Arrivals::kEven) {
    offset = offset_ns_ + static_cast<double>(++steps_) * gap_ns_;
  } else {
    offset = offset_ns_ += Gap();
  }
  due_ns_ = from_ns_ + static_cast<int64_t>(offset);
  if (due_ns_ >= until_ns_) {
    due_ns_ = INT64_MAX;
  }
}

double Schedule::Gap() { return -std::log1p(-random_.Unit()) * gap_ns_; }

}  // namespace swarm
