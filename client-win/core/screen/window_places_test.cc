#include "core/screen/window_places.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace sprites {
namespace {

constexpr int64_t kUpdateMs = 500;

Monitor MonitorOf(double left, double width, double height, double scale = 1) {
  const Rect all{left, 0, left + width, height};
  return {all, all, scale, left == 0};
}

const std::vector<Monitor> kWide = {MonitorOf(0, 1920, 1080)};
const std::vector<Monitor> kSmall = {MonitorOf(0, 800, 600)};
const std::vector<Monitor> kSmaller = {MonitorOf(0, 640, 480)};
const std::vector<Monitor> kTwo = {MonitorOf(0, 1920, 1080), MonitorOf(1920, 1280, 1024)};

OpenWindow Normal(uint64_t id, double left, double top = 100) {
  const Rect rect{left, top, left + 400, top + 300};
  return {id, 1, WindowState::kNormal, rect, rect};
}

// Windows that are put back as WindowPlaces says, updated twice a second.
struct Scenery {
  WindowPlaces places;
  std::vector<Monitor> monitors = kWide;
  std::vector<OpenWindow> windows;
  bool is_full_screen = false;  // a program covers the first monitor
  int64_t now_ms = 0;
  std::vector<PutBack> back;  // all since it was last cleared

  void Pass(int64_t ms) {
    for (const int64_t until_ms = now_ms + ms; now_ms < until_ms; now_ms += kUpdateMs) {
      std::vector<Rect> covered;
      if (is_full_screen && !monitors.empty()) {
        covered.push_back(monitors[0].bounds);
      }
      for (const PutBack& one : places.Update(monitors, windows, covered, now_ms)) {
        back.push_back(one);
        const auto window = std::ranges::find(windows, one.id, &OpenWindow::id);
        REQUIRE(window != windows.end());
        CHECK(window->state == one.state);
        window->shown = one.shown;
        window->normal = one.normal;
      }
    }
  }
  OpenWindow& Window(uint64_t id) { return *std::ranges::find(windows, id, &OpenWindow::id); }
  // What a change of resolution does: everything is pushed into the corner.
  void Become(const std::vector<Monitor>& now) {
    monitors = now;
    for (OpenWindow& window : windows) {
      window.shown = window.normal = {0, 0, 300, 200};
    }
  }
};

TEST_CASE("window places › a layout that is gone before the windows are listed still counts") {
  Scenery now;
  now.windows = {Normal(1, 900)};
  now.Pass(5'000);
  now.Become(kSmall);
  now.places.SeeMonitors(kSmall, now.now_ms);
  now.monitors = kWide;
  now.places.SeeMonitors(kWide, now.now_ms);
  now.Pass(10'000);
  CHECK(now.Window(1).shown == Normal(1, 900).shown);
}

TEST_CASE("window places › come back after a full-screen program changed the resolution") {
  Scenery scenery;
  scenery.windows = {Normal(1, 900), Normal(2, 1400)};
  const auto before = scenery.windows;
  scenery.Pass(10'000);
  scenery.is_full_screen = true;
  scenery.Pass(1'000);
  scenery.Become(kSmall);
  scenery.Pass(60'000);
  scenery.is_full_screen = false;
  scenery.Become(kWide);
  CHECK(scenery.back.empty());
  scenery.Pass(10'000);
  CHECK(scenery.back.size() == 2);
  CHECK(scenery.windows == before);
}

TEST_CASE("window places › are left alone while nothing changes, whatever their user does") {
  Scenery scenery;
  scenery.windows = {Normal(1, 900), Normal(2, 1400)};
  for (int round = 0; round < 20; round++) {
    scenery.Pass(700);
    scenery.Window(1) = Normal(1, 50.0 * round);
    scenery.is_full_screen = round % 5 == 0;
  }
  CHECK(scenery.back.empty());
}

TEST_CASE("window places › are the newest ones kept for a while, not the stops of a drag") {
  Scenery scenery;
  scenery.windows = {Normal(1, 900)};
  scenery.Pass(10'000);
  scenery.Window(1) = Normal(1, 200);
  scenery.Pass(10'000);
  scenery.Window(1) = Normal(1, 250);
  scenery.Pass(kUpdateMs);
  scenery.Become(kSmall);
  scenery.Pass(10'000);
  scenery.Become(kWide);
  scenery.Pass(10'000);
  CHECK(scenery.windows[0] == Normal(1, 200));
}

TEST_CASE("window places › wait until the layout has settled and the full-screen program is gone") {
  Scenery scenery;
  scenery.windows = {Normal(1, 900)};
  scenery.Pass(10'000);
  scenery.is_full_screen = true;
  scenery.Become(kSmall);
  scenery.Pass(10'000);
  scenery.Become(kWide);
  scenery.Pass(10'000);
  CHECK(scenery.back.empty());
  scenery.is_full_screen = false;
  scenery.Pass(kUpdateMs);
  CHECK(scenery.back.size() == 1);

  scenery.Become(kSmall);
  scenery.Pass(10'000);
  scenery.Become(kWide);
  scenery.Pass(kLayoutSettleMs);
  CHECK(scenery.back.size() == 1);
  scenery.Pass(kUpdateMs);
  CHECK(scenery.back.size() == 2);
}

TEST_CASE("window places › of the other monitor come back while a game runs on the first") {
  Scenery scenery;
  scenery.monitors = kTwo;
  scenery.windows = {Normal(1, 900), Normal(2, 2400), Normal(3, 2000)};
  scenery.windows[2].state = WindowState::kMinimised;
  scenery.Pass(10'000);
  scenery.is_full_screen = true;
  const std::vector<Monitor> game = {MonitorOf(0, 800, 600), MonitorOf(800, 1280, 1024)};
  scenery.Become(game);
  const OpenWindow pushed = scenery.Window(1);
  scenery.Pass(10'000);
  // They are where they were on their monitor, which has moved to the left with the first one's
  // edge.
  CHECK(scenery.Window(2) == Normal(2, 2400 - 1120));
  CHECK(scenery.Window(3).normal == Normal(3, 2000 - 1120).normal);
  CHECK(scenery.Window(1) == pushed);
  // Its user moves one, while the game still runs.
  scenery.Window(2) = Normal(2, 1000);
  scenery.Pass(10'000);
  CHECK(scenery.Window(2) == Normal(2, 1000));

  scenery.is_full_screen = false;
  scenery.Become(kTwo);
  scenery.Pass(10'000);
  CHECK(scenery.Window(1) == Normal(1, 900));
  CHECK(scenery.Window(3).normal == Normal(3, 2000).normal);
}

TEST_CASE("window places › on a monitor that a game covers come back when it ends") {
  Scenery scenery;
  scenery.windows = {Normal(1, 900)};
  scenery.Pass(10'000);
  scenery.Become(kSmall);
  scenery.Pass(10'000);
  scenery.is_full_screen = true;
  scenery.Become(kWide);
  scenery.Pass(60'000);
  CHECK(scenery.back.empty());
  scenery.is_full_screen = false;
  scenery.Pass(kUpdateMs);
  CHECK(scenery.windows[0] == Normal(1, 900));
}

TEST_CASE("window places › survive several changes in a row") {
  Scenery scenery;
  scenery.windows = {Normal(1, 900), Normal(2, 1400)};
  const auto before = scenery.windows;
  scenery.Pass(10'000);
  scenery.is_full_screen = true;
  for (const auto& monitors : {kSmall, kSmaller, kWide, kSmaller, kSmall}) {
    scenery.Become(monitors);
    scenery.Pass(1'000);
  }
  scenery.Pass(5'000);
  scenery.is_full_screen = false;
  scenery.Become(kWide);
  scenery.Pass(10'000);
  CHECK(scenery.windows == before);
}

TEST_CASE("window places › a window that was moved meanwhile stays where its user put it") {
  Scenery scenery;
  scenery.windows = {Normal(1, 900), Normal(2, 1400)};
  scenery.Pass(10'000);
  scenery.Become(kSmall);
  scenery.Pass(5'000);
  scenery.Window(1) = Normal(1, 120);
  scenery.Pass(5'000);
  scenery.monitors = kWide;
  scenery.Pass(10'000);
  REQUIRE(scenery.back.size() == 1);
  CHECK(scenery.back[0].id == 2);
  CHECK(scenery.Window(1) == Normal(1, 120));
}

TEST_CASE("window places › of a closed window are forgotten, even when its id is used again") {
  Scenery scenery;
  scenery.windows = {Normal(1, 900), Normal(2, 1400)};
  scenery.Pass(10'000);
  scenery.Become(kSmall);
  scenery.Pass(5'000);
  scenery.windows.pop_back();
  OpenWindow other = Normal(1, 10);
  other.owner = 7;
  scenery.windows = {other};
  scenery.monitors = kWide;
  scenery.Pass(10'000);
  CHECK(scenery.back.empty());
}

TEST_CASE("window places › a window that is new since the change stays where it is") {
  Scenery scenery;
  scenery.windows = {Normal(1, 900)};
  scenery.Pass(10'000);
  scenery.Become(kSmall);
  scenery.Pass(5'000);
  scenery.windows.push_back(Normal(3, 20));
  scenery.Pass(5'000);
  scenery.monitors = kWide;
  scenery.Pass(10'000);
  REQUIRE(scenery.back.size() == 1);
  CHECK(scenery.back[0].id == 1);
}

TEST_CASE("window places › a minimised window stays so, and will come up where it was") {
  Scenery scenery;
  scenery.windows = {Normal(1, 900)};
  scenery.Pass(10'000);
  scenery.Become(kSmall);
  scenery.Window(1).state = WindowState::kMinimised;
  scenery.Window(1).shown = {-32'000, -32'000, -31'840, -31'972};
  scenery.Pass(10'000);
  scenery.monitors = kWide;
  scenery.Pass(10'000);
  REQUIRE(scenery.back.size() == 1);
  CHECK(scenery.back[0].state == WindowState::kMinimised);
  CHECK(scenery.back[0].normal == Normal(1, 900).normal);
}

TEST_CASE("window places › a window that was minimised and is shown now goes to its normal place") {
  Scenery scenery;
  OpenWindow window = Normal(1, 900);
  window.state = WindowState::kMinimised;
  window.shown = {-32'000, -32'000, -31'840, -31'972};
  scenery.windows = {window};
  scenery.Pass(10'000);
  scenery.Become(kSmall);
  scenery.Window(1).state = WindowState::kNormal;
  scenery.Pass(10'000);
  scenery.monitors = kWide;
  const auto back = [&] {
    scenery.Pass(10'000);
    return scenery.back;
  }();
  REQUIRE(!back.empty());
  CHECK(back[0].shown == Rect{});
  CHECK(back[0].normal == Normal(1, 900).normal);
}

TEST_CASE("window places › minimising keeps the place that a window comes up in") {
  Scenery scenery;
  OpenWindow snapped = Normal(1, 900);
  snapped.shown = {0, 0, 960, 1080};
  scenery.windows = {snapped};
  scenery.Pass(10'000);
  scenery.Window(1).state = WindowState::kMinimised;
  scenery.Pass(10'000);
  scenery.Become(kSmall);
  scenery.Window(1).state = WindowState::kNormal;
  scenery.Pass(kUpdateMs);
  scenery.Become(kWide);
  scenery.Pass(10'000);
  REQUIRE(scenery.back.size() == 1);
  CHECK(scenery.back[0].shown == snapped.shown);
}

TEST_CASE(
    "window places › a maximised window goes back to its monitor when that is plugged in again") {
  Scenery scenery;
  scenery.monitors = kTwo;
  OpenWindow maximised{
      1, 1, WindowState::kMaximised, {1920, 0, 3200, 1024}, {2000, 100, 2400, 400}};
  scenery.windows = {maximised, Normal(2, 100)};
  scenery.Pass(10'000);
  scenery.monitors = kWide;
  scenery.Window(1).shown = {0, 0, 1920, 1080};
  scenery.Window(1).normal = {80, 100, 480, 400};
  scenery.Pass(60'000);
  scenery.monitors = kTwo;
  scenery.Pass(10'000);
  REQUIRE(scenery.back.size() == 1);
  CHECK(scenery.Window(1) == maximised);
}

TEST_CASE("window places › a window that was maximised or restored meanwhile is left alone") {
  Scenery scenery;
  OpenWindow maximised = Normal(1, 100);
  maximised.state = WindowState::kMaximised;
  scenery.windows = {maximised, Normal(2, 900)};
  scenery.Pass(10'000);
  scenery.Become(kSmall);
  scenery.Window(1).state = WindowState::kNormal;
  scenery.Window(2).state = WindowState::kMaximised;
  scenery.Pass(kUpdateMs);
  scenery.monitors = kWide;
  scenery.Pass(10'000);
  CHECK(scenery.back.empty());
}

TEST_CASE("window places › of each layout come back with it, and another scale is another layout") {
  Scenery scenery;
  std::vector<Monitor> scaled = kWide;
  scaled[0].scale = 1.5;
  scenery.windows = {Normal(1, 900)};
  scenery.Pass(10'000);
  scenery.Become(scaled);
  scenery.Pass(10'000);
  scenery.monitors = kWide;
  scenery.Pass(10'000);
  CHECK(scenery.windows[0] == Normal(1, 900));
  scenery.monitors = scaled;
  scenery.Pass(10'000);
  CHECK(scenery.windows[0].shown == Rect{0, 0, 300, 200});
}

TEST_CASE("window places › a window that does not go back is tried twice, then stays") {
  WindowPlaces places;
  const std::vector<OpenWindow> before = {Normal(1, 900)};
  const std::vector<OpenWindow> stuck = {Normal(1, 0)};
  int64_t now_ms = 0;
  size_t asked = 0;
  const auto pass = [&](const auto& monitors, const auto& windows, int64_t ms) {
    for (const int64_t until_ms = now_ms + ms; now_ms < until_ms; now_ms += kUpdateMs) {
      asked += places.Update(monitors, windows, {}, now_ms).size();
    }
  };
  pass(kWide, before, 10'000);
  pass(kSmall, stuck, 10'000);
  pass(kWide, stuck, 60'000);
  CHECK(asked == kPutBackTries);
  // It belongs there now.
  pass(kSmaller, before, 10'000);
  pass(kWide, stuck, 60'000);
  CHECK(asked == kPutBackTries);
}

TEST_CASE("window places › remember a limited number of layouts, the latest ones") {
  for (const size_t others : {kLayoutsMax - 1, kLayoutsMax}) {
    Scenery scenery;
    scenery.windows = {Normal(1, 900)};
    scenery.Pass(10'000);
    for (size_t i = 0; i < others; i++) {
      scenery.Become({MonitorOf(0, 500 + static_cast<double>(i), 400)});
      scenery.Pass(10'000);
    }
    scenery.monitors = kWide;
    scenery.back.clear();
    scenery.Pass(10'000);
    CHECK(scenery.back.size() == (others < kLayoutsMax ? 1 : 0));
  }
}

TEST_CASE("window places › handle no monitors, and more windows than the limit") {
  Scenery scenery;
  for (uint64_t id = 1; id <= kPlacesMax + 10; id++) {
    scenery.windows.push_back(Normal(id, static_cast<double>(id)));
  }
  scenery.Pass(10'000);
  scenery.monitors.clear();
  scenery.Pass(10'000);
  scenery.Become(kSmall);
  scenery.Pass(10'000);
  scenery.monitors = kWide;
  scenery.Pass(10'000);
  CHECK(scenery.back.size() == kPlacesMax);
}

TEST_CASE(
    "window places › whatever happens, only windows that are there and out of place go back") {
  const uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 engine(seed);
  const auto below = [&](int limit) { return static_cast<int>(engine() % limit); };
  const std::vector<Monitor> layouts[] = {kWide, kSmall, kSmaller, kTwo, {}};
  Scenery scenery;
  for (int round = 0; round < 3000; round++) {
    const int kind = below(8);
    const auto id = uint64_t{1} + static_cast<uint64_t>(below(6));
    const auto window = std::ranges::find(scenery.windows, id, &OpenWindow::id);
    if (kind == 0) {
      scenery.Become(layouts[below(5)]);
    } else if (kind == 1) {
      scenery.is_full_screen = !scenery.is_full_screen;
    } else if (window == scenery.windows.end()) {
      scenery.windows.push_back(Normal(id, 10.0 * below(50)));
    } else if (kind == 2) {
      scenery.windows.erase(window);
    } else if (kind == 3) {
      window->state = static_cast<WindowState>(below(3));
    } else {
      window->shown = window->normal = Normal(id, 10.0 * below(50)).shown;
    }
    const auto before = scenery.windows;
    scenery.back.clear();
    scenery.Pass(kUpdateMs);
    for (const PutBack& one : scenery.back) {
      const bool has_shown = one.state != WindowState::kMinimised && one.shown != Rect{};
      const Rect& to = has_shown ? one.shown : one.normal;
      const Point middle{(to.left + to.right) / 2, (to.top + to.bottom) / 2};
      CHECK((!scenery.is_full_screen || !scenery.monitors[0].bounds.Contains(middle)));
      const auto was = std::ranges::find(before, one.id, &OpenWindow::id);
      CHECK((was->shown != one.shown || was->normal != one.normal));
    }
  }
}

}  // namespace
}  // namespace sprites
