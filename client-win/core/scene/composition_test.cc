#include "core/scene/composition.h"

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <vector>

#include "core/scene/dust.h"
#include "core/scene/shadow.h"
#include "test/core/test_desktop.h"

namespace sprites {
namespace {

class PlainSurface : public Surface {
 public:
  PlainSurface(int width, int height) : pixels_(size_t(width) * size_t(height)) {}
  uint32_t* Pixels() override { return pixels_.data(); }

 private:
  std::vector<uint32_t> pixels_;
};

FrameAtlas PlainAtlas() {
  return FrameAtlas(
      [](int width, int height) { return std::make_unique<PlainSurface>(width, height); });
}

// A sheet of one frame with pixels of one colour; `rgba` of each of its columns.
SheetPointer Striped(const std::vector<std::array<uint8_t, 4>>& columns, int height) {
  auto sheet = std::make_shared<Sheet>();
  sheet->width = sheet->description.frame_width = static_cast<int>(columns.size());
  sheet->height = sheet->description.frame_height = height;
  sheet->description.animations["idle"] = {{0}, 1};
  for (int y = 0; y < height; y++) {
    for (const auto& column : columns) {
      sheet->rgba.insert(sheet->rgba.end(), column.begin(), column.end());
    }
  }
  return sheet;
}

DrawnSprite At(SpriteId id, const SheetPointer& sheet, int x, int y) {
  DrawnSprite drawn;
  drawn.id = id;
  drawn.sheet = sheet;
  drawn.x = x;
  drawn.y = y;
  drawn.width = sheet->width;
  drawn.height = sheet->height;
  return drawn;
}

constexpr std::array<uint8_t, 4> kRed = {255, 0, 0, 255};
constexpr std::array<uint8_t, 4> kNothing = {0, 0, 0, 0};
constexpr std::array<uint8_t, 4> kGlass = {0, 255, 0, 128};
constexpr std::array<uint8_t, 4> kShade = {0, 0, 0, 102};

TEST_CASE("composition › puts each shadow under its sprite, and leaves the dust apart") {
  const SheetPointer body = Striped({kRed}, 1);
  const SheetPointer shade = Striped({kShade, kShade, kShade}, 2);
  Scene scene;
  scene.sprites = {At(1, body, 10, 10), At(2, body, 20, 10), At(3, body, 30, 10)};
  scene.ground = {At(1, shade, 9, 10), At(3, shade, 29, 12), At(kFirstPuff, shade, 0, 0)};
  scene.ground[1].crop = Crop{1, 0, 2, 1};
  Composition composition;
  Compose(scene, &composition);
  REQUIRE(composition.sprites.size() == 3);
  CHECK(composition.sprites[0].under ==
        Underlay{shade, 0, kOpacityMax, {-1, 0, 3, 2}, {-1, 0, 3, 2}});
  CHECK(!composition.sprites[1].under);
  CHECK(composition.sprites[2].under ==
        Underlay{shade, 0, kOpacityMax, {-1, 2, 3, 2}, {0, 2, 2, 1}});
  CHECK(composition.dust == std::vector<DrawnSprite>{scene.ground[2]});
  CHECK(composition.sprites[0].Covered() == Crop{-1, 0, 3, 2});
  CHECK(composition.sprites[0].Left() == 9);
  CHECK(composition.sprites[1].Covered() == Crop{0, 0, 1, 1});
  CHECK(composition.sprites[2].Covered() == Crop{0, 0, 2, 3});
  scene.ground.clear();
  Compose(scene, &composition);
  CHECK(!composition.sprites[0].under);
  CHECK(composition.dust.empty());
}

TEST_CASE("composition › a shadow is behind its sprite, and seen where that is transparent") {
  DrawnSprite sprite = At(1, Striped({kRed, kNothing, kGlass}, 2), 5, 5);
  sprite.under = Underlay{
      Striped({kShade, kShade, kShade, kShade}, 2), 0, kOpacityMax, {0, 1, 4, 2}, {0, 1, 4, 1}};
  CHECK(sprite.Covered() == Crop{0, 0, 4, 2});
  FrameAtlas atlas = PlainAtlas();
  std::vector<uint32_t> pixels(12, 0x11111111);  // what was there before
  REQUIRE(DrawComposed(sprite, &atlas, pixels.data(), 6));
  const uint32_t kept = 0x11111111;
  const uint32_t glass = 0x80008000;       // premultiplied
  const uint32_t dark_glass = 0xB3008000;  // 128 + 102 · 127 / 255
  CHECK(pixels == std::vector<uint32_t>{0xFFFF0000, 0, glass, 0, kept, kept,  //
                                        0xFFFF0000, 0x66000000, dark_glass, 0x66000000, kept,
                                        kept});
  // Drawn by itself, a sprite without a shadow is its frame.
  sprite.under.reset();
  REQUIRE(DrawComposed(sprite, &atlas, pixels.data(), 3));
  CHECK(pixels[2] == glass);
  CHECK(pixels[5] == glass);
}

TEST_CASE("composition › only the sprite takes clicks, not its shadow") {
  DrawnSprite sprite = At(1, Striped({kRed, kNothing, kGlass}, 2), 5, 5);
  sprite.under = Underlay{
      Striped({kShade, kShade, kShade, kShade}, 2), 0, kOpacityMax, {0, 1, 4, 2}, {0, 1, 4, 2}};
  FrameAtlas atlas = PlainAtlas();
  const auto is_on = [&](int x, int y) { return IsOnSprite(sprite, x, y, &atlas); };
  CHECK(is_on(5, 5));
  CHECK(is_on(7, 6));
  CHECK(!is_on(6, 6));  // a hole, with the shadow behind it
  CHECK(!is_on(8, 6));  // beside it
  CHECK(!is_on(5, 7));  // below
  CHECK(!is_on(4, 5));
  sprite.crop = Crop{1, 0, 2, 2};
  CHECK(!is_on(5, 5));
}

TEST_CASE("composition › says when memory is short") {
  FrameAtlas atlas([](int, int) { return std::unique_ptr<Surface>(); });
  const DrawnSprite sprite = At(1, Striped({kRed}, 1), 0, 0);
  uint32_t pixel = 1;
  CHECK(!DrawComposed(sprite, &atlas, &pixel, 1));
  CHECK(IsOnSprite(sprite, 0, 0, &atlas));
}

TEST_CASE("composition › a sprite that rests or walks keeps its picture, its shadow with it") {
  TestDesktop test(TestDesktop::Given());
  test.desktop.look().SetGroundShown(true);
  test.desktop.sprites().DropIn(test.sheet->file, Point{400, 560});
  Composition before;
  Compose(test.Pass(2'000), &before);
  REQUIRE(before.sprites.size() == 1);
  REQUIRE(before.sprites[0].under);
  // The feet are on the ground, and so is the shadow: the window reaches below the ledge.
  const DrawnSprite& drawn = before.sprites[0];
  CHECK(drawn.y + drawn.height == 560);
  CHECK(drawn.Top() + drawn.Covered().height > 560);
  Composition after;
  Compose(test.Pass(1'000), &after);
  CHECK(after.sprites == before.sprites);
}

}  // namespace
}  // namespace sprites
