#include "win32/pacer.h"

#include <dwmapi.h>

#include <algorithm>

namespace sprites {

namespace {

#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION  // missing in older headers
constexpr DWORD CREATE_WAITABLE_TIMER_HIGH_RESOLUTION = 0x00000002;
#endif
constexpr double kFrameMsMin = 12;  // ms: about 60 frames/s; at 144 Hz every 2nd refresh
constexpr double kFrameMsDefault = 1000.0 / 60;  // ms, if the refresh rate is not known
constexpr double kRefreshMsMin = 1;  // ms: a reported period outside these bounds is wrong
constexpr double kRefreshMsMax = 100;

}  // namespace

Pacer::Pacer() {
  timer_.reset(CreateWaitableTimerExW(nullptr, nullptr, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION,
                                      TIMER_ALL_ACCESS));
  if (timer_ == nullptr) {  // before Windows 10 1803
    timer_.reset(CreateWaitableTimerW(nullptr, FALSE, nullptr));
  }
  LARGE_INTEGER frequency;
  QueryPerformanceFrequency(&frequency);
  ticks_per_second_ = frequency.QuadPart;
}

void Pacer::Schedule(double ms) {
  double wait_ms = std::max(ms, kFrameMsDefault);
  DWM_TIMING_INFO timing{};
  timing.cbSize = sizeof timing;
  if (SUCCEEDED(DwmGetCompositionTimingInfo(nullptr, &timing))) {
    LARGE_INTEGER now;
    QueryPerformanceCounter(&now);
    const double ticks_per_ms = static_cast<double>(ticks_per_second_) / 1000;
    const double refresh_ms = static_cast<double>(timing.qpcRefreshPeriod) / ticks_per_ms;
    const double since_ms =
        static_cast<double>(now.QuadPart - static_cast<int64_t>(timing.qpcVBlank)) / ticks_per_ms;
    if (refresh_ms >= kRefreshMsMin && refresh_ms <= kRefreshMsMax) {
      const double earliest_ms = std::max(ms, kFrameMsMin) + since_ms;
      const auto refreshes = static_cast<int64_t>(earliest_ms / refresh_ms) + 1;
      wait_ms = std::clamp(static_cast<double>(refreshes) * refresh_ms - since_ms, 1.0,
                           std::max(ms, kFrameMsMin) + 2 * refresh_ms);
    }
  }
  LARGE_INTEGER due;
  due.QuadPart = -static_cast<int64_t>(wait_ms * 10'000);  // relative, in 100 ns
  SetWaitableTimer(timer_.get(), &due, 0, nullptr, nullptr, FALSE);
}

}  // namespace sprites
