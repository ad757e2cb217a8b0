#include "core/scene/shadow.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace sprites {
namespace {

const Monitor kShadowMonitor{{0, 0, 800, 600}, {0, 0, 800, 560}, 1, true};
constexpr Ledge kFloor{0, 800, 560};

Sprite SpriteAt(double x, double y) {
  Sprite sprite;
  sprite.id = 7;
  sprite.nature.width = 40;
  sprite.mode = Mode::kIdle;
  sprite.x = x;
  sprite.y = y;
  return sprite;
}

uint8_t AlphaOf(const DrawnSprite& drawn, int x, int y) {
  const int top = drawn.cell * drawn.height;
  return drawn.sheet->rgba[size_t{4} * ((top + y) * drawn.sheet->width + x) + 3];
}

TEST_CASE("shadow › is around the feet: its middle a dip above the ground, as wide on both sides") {
  OwnSheets sheets;
  const auto drawn = DrawShadow(SpriteAt(400, 560), kFloor, kShadowMonitor, &sheets);
  REQUIRE(drawn);
  CHECK(drawn->id == 7);
  CHECK(drawn->width == 52);
  CHECK(drawn->height == 12);
  CHECK(drawn->x == 400 - 26);
  CHECK(drawn->y == 559 - 6);
  CHECK(!drawn->crop);
  CHECK(AlphaOf(*drawn, 26, 6) == doctest::Approx(0.4 * 255).epsilon(0.1));
  CHECK(AlphaOf(*drawn, 0, 0) == 0);
  CHECK(AlphaOf(*drawn, 10, 6) == AlphaOf(*drawn, 51 - 10, 6));
}

TEST_CASE("shadow › fades in steps while a sprite rises: below its reach, at it, above it") {
  OwnSheets sheets;
  int cell = -1;
  for (double height = 0; height < kShadowReach; height += 1) {
    const auto drawn = DrawShadow(SpriteAt(400, 560 - height), kFloor, kShadowMonitor, &sheets);
    REQUIRE(drawn);
    CHECK(drawn->y == 553);  // it stays on the ground
    CHECK(drawn->cell >= cell);
    cell = drawn->cell;
  }
  CHECK(cell == kShadowSteps - 1);
  for (const double height : {kShadowReach, kShadowReach + 1}) {
    CHECK(!DrawShadow(SpriteAt(400, 560 - height), kFloor, kShadowMonitor, &sheets));
  }
  CHECK(sheets.kept() == 1);
  const auto on_ground = DrawShadow(SpriteAt(400, 560), kFloor, kShadowMonitor, &sheets);
  const auto high = DrawShadow(SpriteAt(400, 500), kFloor, kShadowMonitor, &sheets);
  CHECK(AlphaOf(*high, 26, 6) < AlphaOf(*on_ground, 26, 6) / 4);
}

TEST_CASE("shadow › ends where a window ends, and at the lower side of the monitor") {
  OwnSheets sheets;
  const auto at_end = DrawShadow(SpriteAt(300, 200), {100, 310, 200}, kShadowMonitor, &sheets);
  REQUIRE(at_end);
  CHECK(at_end->crop == Crop{0, 0, 36, 12});
  CHECK(at_end->Left() == 274);
  const auto at_start = DrawShadow(SpriteAt(105, 200), {100, 310, 200}, kShadowMonitor, &sheets);
  CHECK(at_start->crop == Crop{21, 0, 31, 12});
  const auto low = DrawShadow(SpriteAt(400, 600), {0, 800, 600}, kShadowMonitor, &sheets);
  CHECK(low->crop == Crop{0, 0, 52, 7});
}

TEST_CASE("shadow › a sprite that climbs or hangs has none") {
  OwnSheets sheets;
  for (const Mode mode : {Mode::kClimb, Mode::kHang}) {
    Sprite sprite = SpriteAt(400, 560);
    sprite.mode = mode;
    CHECK(!DrawShadow(sprite, kFloor, kShadowMonitor, &sheets));
  }
}

TEST_CASE("shadow › px of its picture: below the limit, the limit; a wider one is scaled") {
  for (const int px :
       {kShadowDrawnPixelsMax - 4, kShadowDrawnPixelsMax, kShadowDrawnPixelsMax + 4}) {
    OwnSheets sheets;
    Sprite sprite = SpriteAt(400, 560);
    sprite.nature.width = px / 1.3;
    const auto drawn = DrawShadow(sprite, kFloor, kShadowMonitor, &sheets);
    REQUIRE(drawn);
    CHECK(drawn->width == px);
    CHECK(drawn->sheet->width == std::min(px, kShadowDrawnPixelsMax));
  }
}

TEST_CASE("shadow › is as large as the monitor's scale makes it") {
  OwnSheets sheets;
  Monitor monitor = kShadowMonitor;
  monitor.scale = 2;
  const auto drawn = DrawShadow(SpriteAt(400, 560), kFloor, monitor, &sheets);
  CHECK(drawn->width == 104);
  CHECK(drawn->height == 24);
  CHECK(DrawShadow(SpriteAt(400, 560 - kShadowReach), kFloor, monitor, &sheets).has_value());
}

}  // namespace
}  // namespace sprites
