#include "core/scene/frame_clock.h"

#include <algorithm>
#include <cmath>

namespace sprites {

namespace {

constexpr double kRounding = 1e-6;  // refreshes: far below what a clock resolves

// The refreshes, as a fraction, from the screen's reference until `ms`.
double RefreshesUntil(const Refresh& refresh, double ms) {
  return (ms - refresh.at_ms) / refresh.period_ms;
}

double TimeOf(const Refresh& refresh, double number) {
  return refresh.at_ms + number * refresh.period_ms;
}

}  // namespace

void FrameClock::BeginTurn(double now_ms, const Refresh& refresh) {
  refresh_ = refresh;
  frame_ms_ = TimeOf(refresh, std::floor(RefreshesUntil(refresh, now_ms + kTimerMs)));
}

double FrameClock::EndTurn(double now_ms, double idle_ms) {
  double due_ms = EarliestMs();
  if (idle_ms > 0) {
    const double wake = std::ceil(RefreshesUntil(refresh_, now_ms + idle_ms) - kRounding);
    due_ms = std::max(due_ms, TimeOf(refresh_, wake));
  }
  due_ms_ = due_ms >= now_ms ? due_ms : now_ms + kTurnGapMs;
  return due_ms_;
}

double FrameClock::HandleInput(double now_ms) {
  due_ms_ = std::min(due_ms_, std::max(EarliestMs(), now_ms));
  return due_ms_;
}

double FrameClock::FrameMs() const {
  const double refreshes = std::ceil(kFrameMsMin / refresh_.period_ms - kRounding);
  return std::max(1.0, refreshes) * refresh_.period_ms * (is_halved_ ? 2 : 1);
}

double FrameClock::EarliestMs() const { return frame_ms_ + FrameMs(); }

}  // namespace sprites
