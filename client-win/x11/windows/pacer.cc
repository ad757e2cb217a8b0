#include "x11/windows/pacer.h"

#include <gdk/gdk.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <system_error>

namespace sprites {

namespace {

constexpr double kMsPerSecond = 1'000;
constexpr double kNsPerMs = 1'000'000;
constexpr double kMilliHertz = 1'000'000;  // ms between two refreshes, times mHz

double NowMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * kMsPerSecond +
         static_cast<double>(now.tv_nsec) / kNsPerMs;
}

// Between two refreshes of the fastest monitor that GDK knows; `otherwise` when it knows none.
double FastestRefreshMs(double otherwise) {
  GdkDisplay* display = gdk_display_get_default();
  double fastest = otherwise;
  bool is_known = false;
  for (int i = 0; i < gdk_display_get_n_monitors(display); i++) {
    const double mhz = gdk_monitor_get_refresh_rate(gdk_display_get_monitor(display, i));
    const double ms = kMilliHertz / mhz;
    if (mhz > 0 && IsRefreshPeriod(ms) && (!is_known || ms < fastest)) {
      fastest = ms;
      is_known = true;
    }
  }
  return fastest;
}

}  // namespace

Pacer::Pacer() : timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
  if (timer_.get() < 0) {
    throw std::system_error(errno, std::generic_category(), "timerfd");
  }
}

void Pacer::BeginTurn() {
  uint64_t fired = 0;
  (void)!read(timer_.get(), &fired, sizeof fired);
  set_ms_ = -1;
  refresh_.period_ms = FastestRefreshMs(refresh_.period_ms);
  clock_.BeginTurn(NowMs(), refresh_);
}

void Pacer::EndTurn(double idle_ms) { SetTimer(clock_.EndTurn(NowMs(), idle_ms)); }

void Pacer::HandleInput() {
  const double due_ms = clock_.HandleInput(NowMs());
  if (due_ms != set_ms_) {
    SetTimer(due_ms);
  }
}

void Pacer::SetTimer(double due_ms) {
  set_ms_ = due_ms;
  const double ms = std::max(due_ms, 0.001);  // a time of zero would stop the timer
  itimerspec spec{};
  spec.it_value.tv_sec = static_cast<time_t>(ms / kMsPerSecond);
  spec.it_value.tv_nsec = static_cast<long>(std::fmod(ms, kMsPerSecond) * kNsPerMs);
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

}  // namespace sprites
