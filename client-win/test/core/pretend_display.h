// A screen and its compositor, for tests and benches: counts which refreshes show a new frame.
#ifndef CLIENT_WIN_TEST_CORE_PRETEND_DISPLAY_H_
#define CLIENT_WIN_TEST_CORE_PRETEND_DISPLAY_H_

#include <cmath>
#include <cstdint>
#include <set>

#include "core/scene/frame_clock.h"

namespace sprites {

class PretendDisplay {
 public:
  PretendDisplay(double hz, double first_ms) : refresh_{first_ms, 1000 / hz} {}

  const Refresh& refresh() const { return refresh_; }
  // A frame is complete: the next refresh shows it.
  void Complete(double ms) {
    frames_++;
    shown_at_.insert(std::ceil((ms - refresh_.at_ms) / refresh_.period_ms));
  }
  // Refreshes that showed a new frame.
  size_t shown() const { return shown_at_.size(); }
  // Frames that were never shown, because a newer one was complete before the same refresh.
  size_t wasted() const { return frames_ - shown_at_.size(); }

 private:
  Refresh refresh_;
  size_t frames_ = 0;
  std::set<double> shown_at_;  // numbers of refreshes
};

}  // namespace sprites

#endif  // CLIENT_WIN_TEST_CORE_PRETEND_DISPLAY_H_
