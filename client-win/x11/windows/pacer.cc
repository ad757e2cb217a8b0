#include "x11/windows/pacer.h"

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

double NowMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * kMsPerSecond +
         static_cast<double>(now.tv_nsec) / kNsPerMs;
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
