#include "core/screen/geometry.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace sprites {
namespace {

constexpr Edge kEdges[] = {Edge::kLeft, Edge::kRight, Edge::kTop, Edge::kBottom};

Monitor At(double left, double top, double right, double bottom, double scale = 1) {
  const Rect all{left, top, right, bottom};
  return {all, all, scale, left == 0 && top == 0};
}

Screen Of(std::vector<Monitor> monitors) { return Screen(monitors); }

// A large one, and a smaller one to its right whose top lies lower; a small one above the first.
Screen Staggered() {
  return Of({At(0, 0, 1920, 1080), At(1920, 200, 3200, 920, 1.5), At(300, -600, 1100, 0)});
}

TEST_CASE("screen › is never empty, and leaves out impossible monitors") {
  const double nan = std::nan("");
  for (const auto& given :
       {std::vector<Monitor>{}, std::vector{At(0, 0, 0, 100)}, std::vector{At(0, 0, nan, 100)},
        std::vector{At(0, 0, 1e9, 100)}, std::vector{At(100, 0, 0, 100)}}) {
    CHECK(Screen(given).monitors().size() == 1);
    CHECK(Screen(given).bounds() == Rect{0, 0, 1024, 768});
  }
  CHECK(Screen(std::vector{At(0, 0, 100, 100, nan)}).monitors()[0].scale == 1);
  CHECK(Screen(std::vector{At(0, 0, 100, 100, 100)}).monitors()[0].scale == 1);
  const std::vector<Monitor> many(kMonitorsMax + 1, At(0, 0, 100, 100));
  CHECK(Screen(many).monitors().size() == kMonitorsMax);
}

TEST_CASE("screen › clips a work area to its monitor, and ignores an impossible one") {
  Monitor monitor = At(0, 0, 800, 600);
  monitor.work = {0, 0, 800, 560};
  CHECK(Of({monitor}).monitors()[0].work.bottom == 560);
  monitor.work = {-50, 900, 900, 800};
  CHECK(Of({monitor}).monitors()[0].work == monitor.bounds);
}

TEST_CASE("screen › tells the relay its size in dip of the primary monitor") {
  CHECK(Of({At(0, 0, 3840, 2160, 2)}).DipWidth() == 1920);
  CHECK(Of({At(0, 0, 3840, 2160, 2)}).DipHeight() == 1080);
  CHECK(Of({At(0, 0, 900'000, 10)}).DipWidth() == 65'535);
}

TEST_CASE("room › is the monitor when there is only one") {
  Monitor monitor = At(0, 0, 800, 600);
  monitor.work = {40, 20, 800, 560};
  const Room room = Of({monitor}).RoomAt({400, 300}, 0);
  CHECK(room.walls == monitor.work);
  CHECK(room.edges == monitor.bounds);
}

TEST_CASE("room › extends to an adjoining monitor at this height, and ends where there is none") {
  const Screen screen = Staggered();
  CHECK(screen.RoomAt({100, 500}, 0).edges.right == 3200);
  CHECK(screen.RoomAt({100, 100}, 0).edges.right == 1920);
  CHECK(screen.RoomAt({2000, 500}, 1).edges.left == 0);
  CHECK(screen.RoomAt({500, 500}, 0).edges.top == -600);
  CHECK(screen.RoomAt({100, 500}, 0).edges.top == 0);
  CHECK(screen.RoomAt({500, -300}, 2).walls.bottom == 1080);
  CHECK(screen.RoomAt({2000, 500}, 1).walls.bottom == 920);
  CHECK(screen.RoomAt({2000, 500}, 1).scale == 1.5);
}

TEST_CASE("room › outside all monitors is that of the last one") {
  const Screen screen = Staggered();
  CHECK(screen.MonitorAt({-50, 500}, 0) == 0);
  CHECK(screen.MonitorAt({2500, 100}, 1) == 1);
  CHECK(screen.RoomAt({2500, 100}, 1).edges.top == 200);
  CHECK(screen.MonitorAt({2500, 100}, 99) == screen.NearestMonitor({2500, 100}));
}

TEST_CASE("room › has a task bar as its floor, even above another monitor") {
  Monitor above = At(0, 0, 800, 600);
  const Monitor below = At(0, 600, 800, 1200);
  CHECK(Of({above, below}).RoomAt({400, 300}, 0).walls.bottom == 1200);
  above.work.bottom = 560;
  const Room room = Of({above, below}).RoomAt({400, 300}, 0);
  CHECK(room.walls.bottom == 560);
  CHECK(room.edges.bottom == 1200);
}

TEST_CASE("doorway › leads back to the point of leaving, all around a staggered desktop") {
  const Screen screen = Staggered();
  for (const Edge edge : kEdges) {
    for (int part = 0; part <= 1000; part++) {
      const double at = part / 1000.0;
      const Doorway door = screen.EnterBy(edge, at);
      CAPTURE(at);
      CHECK(std::abs(screen.Along(edge, door.point) - at) < 1e-9);
      const Rect& own = screen.monitors()[door.monitor].bounds;
      const double rim = edge == Edge::kLeft    ? own.left
                         : edge == Edge::kRight ? own.right
                         : edge == Edge::kTop   ? own.top
                                                : own.bottom;
      CHECK((IsSide(edge) ? door.point.x : door.point.y) == rim);
      // The desktop ends there.
      const Room room = screen.RoomAt(door.point, door.monitor);
      const double out = edge == Edge::kLeft    ? room.edges.left
                         : edge == Edge::kRight ? room.edges.right
                         : edge == Edge::kTop   ? room.edges.top
                                                : room.edges.bottom;
      CHECK(out == rim);
    }
  }
}

TEST_CASE("doorway › is the nearest point where monitors leave a gap") {
  const Screen screen = Of({At(0, 0, 100, 100), At(100, 300, 200, 400)});
  CHECK(screen.EnterBy(Edge::kLeft, 0.4).monitor == 0);
  CHECK(screen.EnterBy(Edge::kLeft, 0.4).point.y == 100);
  CHECK(screen.EnterBy(Edge::kLeft, 0.6).monitor == 1);
  CHECK(screen.EnterBy(Edge::kRight, std::nan("")).point.x >= 100);
}

TEST_CASE("several scales › rooms, edges and doorways of two monitors, side by side and stacked") {
  constexpr double kScales[] = {1, 1.25, 1.5, 2};
  // The second one is at each side of the first, so its coordinates are negative at the left and
  // above. It is smaller or larger in px, as a monitor of another scale is.
  for (const double scale : kScales) {
    for (const double other : kScales) {
      const double width = std::round(1280 * other);
      const double height = std::round(720 * other);
      const double first_width = std::round(1280 * scale);
      const double first_height = std::round(720 * scale);
      for (const Edge side : kEdges) {
        CAPTURE(scale);
        CAPTURE(other);
        CAPTURE(static_cast<int>(side));
        const double left = side == Edge::kLeft ? -width : side == Edge::kRight ? first_width : 0;
        const double top = side == Edge::kTop ? -height : side == Edge::kBottom ? first_height : 0;
        Monitor first = At(0, 0, first_width, first_height, scale);
        first.is_primary = true;
        Monitor second = At(left, top, left + width, top + height, other);
        second.is_primary = false;
        const Screen screen = Of({first, second});
        CHECK(screen.DipWidth() == std::lround(screen.bounds().Width() / scale));
        CHECK(screen.DipHeight() == std::lround(screen.bounds().Height() / scale));
        // Near the corner that both have, a room reaches through both, and each has its own scale.
        const Point in_first{10, 10};
        const Point in_second{left + 10, top + 10};
        const Room here = screen.RoomAt(in_first, screen.MonitorAt(in_first, 1));
        const Room there = screen.RoomAt(in_second, screen.MonitorAt(in_second, 0));
        CHECK(here.scale == scale);
        CHECK(there.scale == other);
        const bool is_beside = IsSide(side);
        CHECK((is_beside ? here.edges.left : here.edges.top) ==
              (is_beside ? there.edges.left : there.edges.top));
        CHECK((is_beside ? here.edges.right : here.edges.bottom) ==
              (is_beside ? there.edges.right : there.edges.bottom));
        CHECK(here.edges.left == (IsSide(side) ? screen.bounds().left : 0));
        CHECK(here.edges.top == (IsSide(side) ? 0 : screen.bounds().top));
        // The border belongs to one of them only.
        const Point border{side == Edge::kRight ? first_width : 0,
                           side == Edge::kBottom ? first_height : 0};
        CHECK(int{first.bounds.Contains(border)} + int{second.bounds.Contains(border)} == 1);
        for (const Edge edge : kEdges) {
          for (int part = 0; part <= 100; part++) {
            const Doorway door = screen.EnterBy(edge, part / 100.0);
            const Rect& own = screen.monitors()[door.monitor].bounds;
            CHECK(std::abs(screen.Along(edge, door.point) - part / 100.0) < 1e-9);
            CHECK(door.point.x >= own.left);
            CHECK(door.point.x <= own.right);
            CHECK(door.point.y >= own.top);
            CHECK(door.point.y <= own.bottom);
          }
        }
      }
    }
  }
}

TEST_CASE("ledges › are the visible parts of the top edges of windows") {
  const Screen screen = Of({At(0, 0, 1920, 1080)});
  const WindowArea front{1, {500, 250, 900, 700}};
  const WindowArea behind{2, {300, 400, 1200, 800}};
  const auto ledges = LedgesOf(std::vector{front, behind}, screen);
  REQUIRE(ledges.size() == 3);
  CHECK(ledges[0].y == 250);
  CHECK((ledges[1].left == 300 && ledges[1].right == 500 && ledges[1].y == 400));
  CHECK((ledges[2].left == 900 && ledges[2].right == 1200));
}

TEST_CASE("ledges › are left out where a sprite on them would not be seen") {
  const Screen screen = Of({At(0, 0, 1920, 1080)});
  const WindowArea maximised{1, {0, 0, 1920, 1080}};
  const WindowArea just_low_enough{2, {0, 32, 100, 200}};
  const WindowArea too_high{3, {200, 31, 300, 200}};
  const WindowArea below_the_floor{4, {400, 1080, 600, 1200}};
  CHECK(LedgesOf(std::vector{maximised}, screen).empty());
  CHECK(LedgesOf(std::vector{just_low_enough, too_high, below_the_floor}, screen).size() == 1);
  const WindowArea covered{5, {500, 500, 700, 600}};
  CHECK(LedgesOf(std::vector{maximised, covered}, screen).empty());
}

TEST_CASE("ledges › come from a limited number of windows") {
  const Screen screen = Of({At(0, 0, 100'000, 1080)});
  std::vector<WindowArea> windows;
  for (size_t i = 0; i < kWindowsMax + 10; i++) {
    const double left = static_cast<double>(i) * 50;
    windows.push_back({i, {left, 500, left + 40, 600}});
  }
  CHECK(LedgesOf(windows, screen).size() == kWindowsMax);
}

TEST_CASE("full screen › is a foreground window without a caption that covers the monitor") {
  const Screen screen = Of({At(0, 0, 800, 600), At(800, 0, 1600, 600)});
  WindowArea game{1, {0, 0, 800, 600}, false, true};
  CHECK(FullScreenMonitors(std::vector{game}, screen) == std::vector{true, false});
  game.has_caption = true;
  CHECK(FullScreenMonitors(std::vector{game}, screen) == std::vector{false, false});
  game.has_caption = false;
  game.rect.bottom = 599;
  CHECK(FullScreenMonitors(std::vector{game}, screen) == std::vector{false, false});
}

TEST_CASE("full screen › is also a film on one monitor while its user types on another") {
  const Screen screen = Of({At(0, 0, 800, 600), At(800, 0, 1600, 600)});
  const WindowArea letter{1, {100, 100, 700, 500}, true, true};
  const WindowArea film{2, {800, 0, 1600, 600}, false, false};
  CHECK(FullScreenMonitors(std::vector{letter, film}, screen) == std::vector{false, true});
  // A quarter of the film may be behind other windows, such as a list of what comes next.
  const WindowArea list{3, {800, 0, 1200, 300}};
  CHECK(FullScreenMonitors(std::vector{letter, list, film}, screen) == std::vector{false, true});
  const WindowArea larger{3, {800, 0, 1201, 300}};
  CHECK(FullScreenMonitors(std::vector{letter, larger, film}, screen) == std::vector{false, false});
  // While the film has the focus, windows in front of it, such as its own controls, do not matter.
  const WindowArea focused{2, {800, 0, 1600, 600}, false, true};
  CHECK(FullScreenMonitors(std::vector{larger, focused}, screen) == std::vector{false, true});
}

TEST_CASE(
    "ledges › are not on windows that carry no sprites, but these hide the windows behind them") {
  const Screen screen = Of({At(0, 0, 1920, 1080)});
  WindowArea splash{1, {500, 250, 900, 700}};
  splash.is_ground = false;
  const WindowArea behind{2, {300, 400, 1200, 800}};
  const auto ledges = LedgesOf(std::vector{splash, behind}, screen);
  REQUIRE(ledges.size() == 2);
  CHECK((ledges[0].left == 300 && ledges[0].right == 500));
}

TEST_CASE("screen › limits: one less, the limit, one more") {
  for (const size_t count : {kMonitorsMax - 1, kMonitorsMax, kMonitorsMax + 1}) {
    const std::vector<Monitor> many(count, At(0, 0, 100, 100));
    CHECK(Screen(many).monitors().size() == std::min(count, kMonitorsMax));
  }
  const auto scale_of = [](double scale) {
    return Of({At(0, 0, 100, 100, scale)}).monitors()[0].scale;
  };
  for (const double scale : {kScaleMin, kScaleMin + 0.01, kScaleMax - 0.01, kScaleMax}) {
    CHECK(scale_of(scale) == scale);
  }
  CHECK(scale_of(kScaleMin - 0.01) == 1);
  CHECK(scale_of(kScaleMax + 0.01) == 1);
  // A monitor at an impossible place is left out; without any other there is the usual one.
  const auto right_of = [](double right) { return Of({At(0, 0, right, 100)}).bounds().right; };
  CHECK(right_of(kSideMax - 1) == kSideMax - 1);
  CHECK(right_of(kSideMax) == kSideMax);
  CHECK(right_of(kSideMax + 1) == Screen().bounds().right);
  // The sides that the relay hears of.
  for (const int side : {65'534, 65'535, 65'536}) {
    const Screen screen = Of({At(0, 0, side, side)});
    CHECK(screen.DipWidth() == std::min(side, 65'535));
    CHECK(screen.DipHeight() == std::min(side, 65'535));
  }
}

TEST_CASE("ledges › a part narrower than 16 px is a gap between windows") {
  const Screen screen = Of({At(0, 0, 1920, 1080)});
  for (const double width : {15.0, 16.0, 17.0}) {
    const WindowArea front{1, {500, 250, 900, 700}};
    const WindowArea behind{2, {500 - width, 400, 900, 800}};
    const auto ledges = LedgesOf(std::vector{front, behind}, screen);
    CHECK(ledges.size() == (width < 16 ? 1 : 2));
  }
}

}  // namespace
}  // namespace sprites
