// A desktop of several monitors with different scales: how large a sprite is on each, and how it
// follows the pointer from one to another.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/desktop/desktop.h"
#include "test/core/test_spr.h"

namespace sprites {
namespace {

constexpr double kScales[] = {1, 1.25, 1.5, 2};
constexpr int kCell = 32;           // px of a frame
constexpr double kSpriteScale = 2;  // so 64 dip

enum class Side : uint8_t { kRight, kLeft, kBelow, kAbove };
constexpr Side kSides[] = {Side::kRight, Side::kLeft, Side::kBelow, Side::kAbove};

Monitor At(double left, double top, double scale, bool is_primary) {
  const Rect all{left, top, left + 1600, top + 1200};
  return {all, all, scale, is_primary};
}

// The primary monitor at 0, 0, and another one beside it: on the left and above at negative
// coordinates.
std::vector<Monitor> Two(double scale, double other, Side side) {
  const double left = side == Side::kRight ? 1600 : side == Side::kLeft ? -1600 : 0;
  const double top = side == Side::kBelow ? 1200 : side == Side::kAbove ? -1200 : 0;
  return {At(0, 0, scale, true), At(left, top, other, false)};
}

Point MiddleOf(const Monitor& monitor) {
  return {(monitor.bounds.left + monitor.bounds.right) / 2,
          (monitor.bounds.top + monitor.bounds.bottom) / 2};
}

// A desktop without a relay, with one sprite in the middle of the primary monitor.
struct MonitorRoom {
  MonitorRoom(const std::vector<Monitor>& monitors, bool whole_pixels)
      : desktop(
            [&] {
              Settings settings;
              settings.whole_pixels = whole_pixels;
              return settings;
            }(),
            [] { return 0.5; }) {
    desktop.look().SetMonitors(monitors);
    Json description = UsualDescription(kCell, kCell);
    description["scale"] = kSpriteScale;
    const SheetPointer sheet = ReadSheet(TestSpr(kCell, kCell, description));
    desktop.look().AddToShelf(sheet);
    id = desktop.sprites().DropIn(sheet->file, MiddleOf(monitors[0]));
    drawn = desktop.Tick(now).sprites[0];
  }
  const DrawnSprite& Tick() {
    drawn = desktop.Tick(now += 10).sprites[0];
    return drawn;
  }
  // Takes hold of the sprite at a fraction of its picture, and returns that point.
  Point GrabAt(double x, double y) {
    const Point point{drawn.x + x * drawn.width, drawn.y + y * drawn.height};
    desktop.sprites().Grab(id, point, static_cast<double>(now));
    return point;
  }
  // Whether the fraction of the picture that is below `point` is still that one, to a pixel.
  bool IsBelow(Point point, double x, double y) const {
    return std::abs(drawn.x + x * drawn.width - point.x) <= 1.5 &&
           std::abs(drawn.y + y * drawn.height - point.y) <= 1.5;
  }

  Desktop desktop;
  SpriteId id = kNobody;
  DrawnSprite drawn;
  int64_t now = 0;
};

template <class Test>
void ForAllLayouts(Test test) {
  for (const double scale : kScales) {
    for (const double other : kScales) {
      for (const Side side : kSides) {
        CAPTURE(scale);
        CAPTURE(other);
        CAPTURE(static_cast<int>(side));
        test(Two(scale, other, side));
      }
    }
  }
}

TEST_CASE("several scales › a held sprite has one size in dip, and stays in the hand") {
  ForAllLayouts([](const std::vector<Monitor>& monitors) {
    for (const auto& [x, y] : {Point{0.5, 0.5}, Point{0.05, 0.05}, Point{0.95, 0.95}}) {
      MonitorRoom room(monitors, false);
      CHECK(room.drawn.width == std::lround(kCell * kSpriteScale * monitors[0].scale));
      const Point from = room.GrabAt(x, y);
      CHECK(room.IsBelow(from, x, y));
      const Point to = MiddleOf(monitors[1]);
      for (int step = 1; step <= 40; step++) {
        const Point point{from.x + (to.x - from.x) * step / 40,
                          from.y + (to.y - from.y) * step / 40};
        room.desktop.sprites().Drag(point, static_cast<double>(room.now));
        room.Tick();
        const bool is_there = monitors[1].bounds.Contains(point);
        const double scale = monitors[is_there ? 1 : 0].scale;
        CHECK(room.drawn.width == std::lround(kCell * kSpriteScale * scale));
        CHECK(room.drawn.height == room.drawn.width);
        CHECK(room.IsBelow(point, x, y));
        CHECK(room.Tick().width ==
              std::lround(kCell * kSpriteScale * scale));  // it does not flicker
        CHECK(room.IsBelow(point, x, y));
      }
    }
  });
}

TEST_CASE(
    "several scales › a held sprite stays in the hand when the scale of its monitor changes") {
  for (const double before : kScales) {
    for (const double after : kScales) {
      for (const auto& [x, y] : {Point{0.5, 0.5}, Point{0.1, 0.05}, Point{0.9, 0.95}}) {
        CAPTURE(before);
        CAPTURE(after);
        std::vector<Monitor> monitors = Two(1, before, Side::kLeft);
        MonitorRoom room(monitors, false);
        room.GrabAt(x, y);
        const Point point = MiddleOf(monitors[1]);
        room.desktop.sprites().Drag(point, static_cast<double>(room.now));
        room.Tick();
        CHECK(room.IsBelow(point, x, y));
        // The pointer does not move, and no other event comes.
        monitors[1].scale = after;
        room.desktop.look().SetMonitors(monitors);
        room.Tick();
        CHECK(room.drawn.width == std::lround(kCell * kSpriteScale * after));
        CHECK(room.IsBelow(point, x, y));
        CHECK(room.desktop.simulation().held() == room.id);
        // Let go of there, it falls from where it is, and not faster than it was moved.
        room.desktop.sprites().Release(static_cast<double>(room.now) + 1'000);
        CHECK(!room.desktop.simulation().Find(room.id)->thrown);
        CHECK(room.Tick().width == std::lround(kCell * kSpriteScale * after));
      }
    }
  }
}

TEST_CASE("several scales › a held sprite whose monitor is unplugged stays below the pointer") {
  const std::vector<Monitor> monitors = Two(1, 2, Side::kRight);
  MonitorRoom room(monitors, false);
  room.GrabAt(0.5, 0.5);
  room.desktop.sprites().Drag(MiddleOf(monitors[1]), static_cast<double>(room.now));
  room.Tick();
  room.desktop.look().SetMonitors(std::vector<Monitor>{monitors[0]});
  room.Tick();
  CHECK(room.drawn.width == kCell * kSpriteScale);
  CHECK(room.IsBelow(MiddleOf(monitors[1]), 0.5, 0.5));
  room.desktop.sprites().Drag(MiddleOf(monitors[0]), static_cast<double>(room.now));
  room.Tick();
  CHECK(room.IsBelow(MiddleOf(monitors[0]), 0.5, 0.5));
}

TEST_CASE(
    "several scales › with whole pixels each dot of the picture is a square of whole pixels") {
  ForAllLayouts([](const std::vector<Monitor>& monitors) {
    MonitorRoom room(monitors, true);
    room.GrabAt(0.5, 0.5);
    for (const Monitor& monitor : monitors) {
      room.desktop.sprites().Drag(MiddleOf(monitor), static_cast<double>(room.now));
      room.Tick();
      const double dot = std::round(kSpriteScale * monitor.scale);
      CHECK(room.drawn.width == kCell * dot);
      CHECK(room.drawn.height == kCell * dot);
      // So it differs from its size in dip by half a pixel a dot at most.
      CHECK(std::abs(room.drawn.width - kCell * kSpriteScale * monitor.scale) <= kCell / 2.0);
      const Point point = MiddleOf(monitor);
      CHECK(point.x >= room.drawn.x);
      CHECK(point.x < room.drawn.x + room.drawn.width);
      CHECK(point.y >= room.drawn.y);
      CHECK(point.y < room.drawn.y + room.drawn.height);
    }
  });
}

TEST_CASE(
    "several scales › a thrown sprite is as fast in dip on each monitor, without a wall between") {
  for (const double scale : kScales) {
    for (const double other : kScales) {
      for (const Side side : {Side::kRight, Side::kLeft}) {
        CAPTURE(scale);
        CAPTURE(other);
        const std::vector<Monitor> monitors = Two(scale, other, side);
        MonitorRoom room(monitors, false);
        const double to = side == Side::kRight ? 1 : -1;
        Point point = room.GrabAt(0.5, 0.5);
        // 1200 dip/s, a little upwards.
        for (int step = 0; step < 10; step++) {
          room.now += 10;
          point = {point.x + to * 12 * scale, point.y - 3 * scale};
          room.desktop.sprites().Drag(point, static_cast<double>(room.now));
        }
        room.desktop.sprites().Release(static_cast<double>(room.now));
        room.desktop.Tick(room.now);
        const double vx = room.desktop.simulation().Find(room.id)->vx;
        CHECK(std::abs(vx - to * 1200) < 1);
        bool has_passed = false;
        for (int i = 0; i < 100 && room.desktop.simulation().Find(room.id)->mode == Mode::kFall;
             i++) {
          const Sprite before = *room.desktop.simulation().Find(room.id);
          room.Tick();
          const Sprite& now = *room.desktop.simulation().Find(room.id);
          has_passed = has_passed || now.monitor == 1;
          CHECK(room.drawn.width ==
                std::lround(kCell * kSpriteScale * monitors[now.monitor].scale));
          if (before.monitor == now.monitor && before.vx == now.vx) {
            const double dip = std::abs(now.x - before.x) / monitors[now.monitor].scale;
            CHECK(dip <= 2.01 * std::abs(vx) * kStepMs / 1000);
          }
        }
        CHECK(has_passed);
      }
    }
  }
}

}  // namespace
}  // namespace sprites
