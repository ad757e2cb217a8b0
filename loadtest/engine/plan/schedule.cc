#include "plan/schedule.h"

#include <cmath>
#include <utility>

namespace swarm {

Schedule::Schedule(Arrivals arrivals, RateCurve curve, uint32_t slice, uint32_t slices,
                   uint64_t seed, int64_t from_ns, int64_t until_ns)
    : arrivals_(arrivals),
      curve_(std::move(curve)),
      number_(slice),
      slices_(slices),
      from_ns_(from_ns),
      until_ns_(until_ns),
      random_(seed + slice),
      due_ns_(0) {
  if (arrivals_ == Arrivals::kRandom) {
    number_ = RandomGap();
  }
  SetDue();
}

void Schedule::Advance() {
  if (due_ns_ == INT64_MAX) {
    return;
  }
  number_ += arrivals_ == Arrivals::kEven ? slices_ : RandomGap();
  SetDue();
}

void Schedule::SetDue() {
  const double offset_ns = curve_.NsAt(number_);
  due_ns_ = offset_ns < static_cast<double>(until_ns_ - from_ns_)
                ? from_ns_ + static_cast<int64_t>(offset_ns)
                : INT64_MAX;
}

double Schedule::RandomGap() { return -std::log1p(-random_.Unit()) * slices_; }

}  // namespace swarm
