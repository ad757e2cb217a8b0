#include "core/scene/frame_clock.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "test/core/pretend_display.h"

namespace sprites {
namespace {

constexpr double kRatesHz[] = {60, 75, 120, 144, 165};
constexpr double kRunMs = 20'000;
constexpr double kLateMsMax = 0.1;  // that the pretend timer fires too late

// A loop that sleeps until a turn is due, and takes `turn_ms` for it. `on_gap` is called while it
// sleeps, with the times of the two turns.
template <typename OnGap>
PretendDisplay Run(FrameClock* clock, double hz, double turn_ms, double idle_ms, OnGap on_gap) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> late(0, kLateMsMax);
  double now = 1'000;
  PretendDisplay display(hz, now);
  const double end = now + kRunMs;
  while (now < end) {
    clock->BeginTurn(now, display.refresh());
    now += turn_ms;
    display.Complete(now);
    clock->EndTurn(now, idle_ms);
    on_gap(now);
    now = std::max(now, clock->due_ms()) + late(engine);
  }
  return display;
}

TEST_CASE("frame clock › drops no frame that the turns leave time for, at any rate of the screen") {
  for (const double hz : kRatesHz) {
    for (double turn_ms = 1; turn_ms <= 12; turn_ms++) {
      CAPTURE(hz);
      CAPTURE(turn_ms);
      FrameClock clock;
      const PretendDisplay display = Run(&clock, hz, turn_ms, 0, [](double) {});
      REQUIRE(turn_ms + kLateMsMax <= clock.FrameMs());
      const auto due = static_cast<size_t>(kRunMs / clock.FrameMs());
      CHECK(display.shown() >= due);
      CHECK(display.shown() <= due + 1);
      CHECK(display.wasted() == 0);
    }
  }
}

TEST_CASE("frame clock › draws every refresh of a usual screen, and every n-th of a fast one") {
  const std::pair<double, int> cases[] = {{30, 1},  {60, 1},  {75, 1},  {85, 1},  {100, 1},
                                          {111, 1}, {112, 2}, {120, 2}, {144, 2}, {165, 2},
                                          {222, 2}, {223, 3}, {240, 3}, {360, 4}};
  for (const auto& pair : cases) {
    const double hz = pair.first;
    const int refreshes = pair.second;
    CAPTURE(hz);
    FrameClock clock;
    clock.BeginTurn(0, {0, 1000 / hz});
    CHECK(clock.FrameMs() == doctest::Approx(refreshes * 1000 / hz));
    clock.SetHalved(true);
    CHECK(clock.FrameMs() == doctest::Approx(2 * refreshes * 1000 / hz));
  }
}

TEST_CASE("frame clock › draws as often as it can when turns take longer than a frame") {
  FrameClock clock;
  const PretendDisplay display = Run(&clock, 60, 20, 0, [](double) {});
  CHECK(display.shown() >= static_cast<size_t>(kRunMs / (20 + kTurnGapMs + kLateMsMax)));
}

TEST_CASE("frame clock › is not delayed by input, however fast it comes") {
  for (const double mouse_hz : {125.0, 500.0, 1000.0}) {
    for (const double hz : kRatesHz) {
      CAPTURE(mouse_hz);
      CAPTURE(hz);
      FrameClock clock;
      const auto move_mouse = [&](double now) {
        for (double at = now; at < clock.due_ms(); at += 1000 / mouse_hz) {
          const double before = clock.due_ms();
          CHECK(clock.HandleInput(at) <= before);
        }
      };
      // The scene itself is idle: only the mouse moves the sprite that it drags.
      const PretendDisplay display = Run(&clock, hz, 2, 200, move_mouse);
      const double frame_ms = std::max(clock.FrameMs(), 1000 / mouse_hz);
      CHECK(display.shown() >= static_cast<size_t>(kRunMs / (frame_ms + kLateMsMax)) - 1);
      CHECK(display.wasted() == 0);
    }
  }
}

TEST_CASE("frame clock › reacts to input at once after a pause, and then keeps the frame rate") {
  FrameClock clock;
  const Refresh refresh{0, 10};
  clock.BeginTurn(100, refresh);
  CHECK(clock.EndTurn(101, 250) == 360);
  CHECK(clock.HandleInput(105) == 110);
  CHECK(clock.HandleInput(109) == 110);
  clock.BeginTurn(110, refresh);
  clock.EndTurn(111, 250);
  CHECK(clock.HandleInput(257) == 257);
  clock.BeginTurn(257, refresh);
  CHECK(clock.EndTurn(258, 0) == 260);
}

TEST_CASE("frame clock › sleeps until the refresh at which something moves") {
  FrameClock clock;
  clock.BeginTurn(0, {0, 10});
  CHECK(clock.EndTurn(3, 17) == 20);
  CHECK(clock.EndTurn(3, 18) == 30);
  CHECK(clock.EndTurn(3, 0.5) == 10);
  CHECK(clock.EndTurn(12, 0) == 12 + kTurnGapMs);
}

TEST_CASE("frame clock › a reported period is believed within its bounds, not beyond") {
  for (const double ms :
       {kRefreshMsMin, kRefreshMsMin + 0.01, 1000.0 / 60, kRefreshMsMax - 0.01, kRefreshMsMax}) {
    CHECK(IsRefreshPeriod(ms));
  }
  for (const double ms : {kRefreshMsMin - 0.01, kRefreshMsMax + 0.01, 0.0, -1.0, std::nan("")}) {
    CHECK(!IsRefreshPeriod(ms));
  }
}

TEST_CASE("frame clock › follows a screen whose rate changes, and a timer that fires early") {
  FrameClock clock;
  clock.BeginTurn(0, {0, 1000.0 / 60});
  clock.EndTurn(1, 0);
  clock.BeginTurn(clock.due_ms() - kTimerMs / 2, {0, 1000.0 / 60});
  CHECK(clock.EndTurn(18, 0) == doctest::Approx(2000.0 / 60));
  clock.BeginTurn(40, {40, 20});
  CHECK(clock.EndTurn(41, 0) == 60);
}

}  // namespace
}  // namespace sprites
