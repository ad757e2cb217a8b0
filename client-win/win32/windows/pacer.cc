#include "win32/windows/pacer.h"

#include <dwmapi.h>

#include <algorithm>

namespace sprites {

namespace {

#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION  // missing in older headers
constexpr DWORD CREATE_WAITABLE_TIMER_HIGH_RESOLUTION = 0x00000002;
#endif
constexpr double kTimerUnitsPerMs = 10'000;  // a timer counts in 100 ns

}  // namespace

Pacer::Pacer() {
  timer_.reset(CreateWaitableTimerExW(nullptr, nullptr, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION,
                                      TIMER_ALL_ACCESS));
  if (timer_ == nullptr) {  // before Windows 10 1803
    timer_.reset(CreateWaitableTimerW(nullptr, FALSE, nullptr));
  }
  LARGE_INTEGER frequency;
  QueryPerformanceFrequency(&frequency);
  ticks_per_ms_ = static_cast<double>(frequency.QuadPart) / 1000;
}

void Pacer::BeginTurn() {
  set_ms_ = -1;
  clock_.BeginTurn(NowMs(), RefreshNow());
}

void Pacer::EndTurn(double idle_ms) { SetTimer(clock_.EndTurn(NowMs(), idle_ms)); }

void Pacer::HandleInput() {
  const double due_ms = clock_.HandleInput(NowMs());
  if (due_ms != set_ms_) {
    SetTimer(due_ms);
  }
}

double Pacer::NowMs() const {
  LARGE_INTEGER now;
  QueryPerformanceCounter(&now);
  return static_cast<double>(now.QuadPart) / ticks_per_ms_;
}

Refresh Pacer::RefreshNow() const {
  DWM_TIMING_INFO timing{};
  timing.cbSize = sizeof timing;
  if (SUCCEEDED(DwmGetCompositionTimingInfo(nullptr, &timing))) {
    const Refresh refresh{static_cast<double>(timing.qpcVBlank) / ticks_per_ms_,
                          static_cast<double>(timing.qpcRefreshPeriod) / ticks_per_ms_};
    if (IsRefreshPeriod(refresh.period_ms)) {
      return refresh;
    }
  }
  return {};
}

void Pacer::SetTimer(double due_ms) {
  set_ms_ = due_ms;
  LARGE_INTEGER due;  // negative: relative to now
  due.QuadPart = -static_cast<int64_t>(std::max(0.0, due_ms - NowMs()) * kTimerUnitsPerMs);
  SetWaitableTimer(timer_.get(), &due, 0, nullptr, nullptr, FALSE);
}

}  // namespace sprites
