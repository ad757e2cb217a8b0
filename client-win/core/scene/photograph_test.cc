#include "core/scene/photograph.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "core/picture/picture.h"
#include "core/text/refused.h"
#include "test/core/test_spr.h"

namespace sprites {
namespace {

// A sprite whose sheet is of one colour, in pixels of the screen.
DrawnSprite Block(uint8_t red, uint8_t alpha, const Crop& place) {
  auto sheet = std::make_shared<Sheet>();
  sheet->width = sheet->height = 1;
  sheet->description.animations["idle"] = {{0}, 1};
  sheet->rgba = {red, 0, 0, alpha};
  DrawnSprite drawn;
  drawn.sheet = sheet;
  drawn.x = place.x;
  drawn.y = place.y;
  drawn.width = place.width;
  drawn.height = place.height;
  return drawn;
}

// Red, green, blue and alpha of a pixel, in hex.
std::string At(const Picture& picture, int x, int y, size_t frame = 0) {
  const size_t at = kChannels * (size_t(y) * size_t(picture.width) + size_t(x));
  const uint8_t* rgba = &picture.frames[frame].rgba[at];
  char text[9];
  snprintf(text, sizeof text, "%02x%02x%02x%02x", rgba[0], rgba[1], rgba[2], rgba[3]);
  return text;
}

PaintedBubble Paper(int x, int y, int width, int height) {
  return {x, y, width, height, std::vector<uint32_t>(size_t(width) * size_t(height), 0xFFFFFFFF)};
}

Text RefusalOf(std::span<const DrawnSprite> drawn) {
  try {
    PhotographedPart(drawn, {});
  } catch (const Refused& refused) {
    return refused.reason().text;
  }
  return Text::kButtonOk;
}

TEST_CASE("photograph › has the size of what is drawn, on a transparent ground, bubbles on top") {
  const DrawnSprite drawn[] = {Block(255, 255, {-500, 100, 10, 20}),
                               Block(200, 128, {-495, 110, 10, 20})};
  const PaintedBubble bubbles[] = {Paper(-492, 90, 40, 15)};
  const Picture picture = DecodePicture(TakePhotograph(drawn, bubbles));
  constexpr int kAround = 2 * kPhotographMargin;
  CHECK(picture.width == 48 + kAround);
  CHECK(picture.height == 40 + kAround);
  constexpr int kAt = kPhotographMargin;
  CHECK(At(picture, 0, 0) == "00000000");
  CHECK(At(picture, kAt, kAt + 9) == "00000000");
  CHECK(At(picture, kAt, kAt + 10) == "ff0000ff");
  CHECK(At(picture, kAt + 14, kAt + 39) == "c7000080");  // straight alpha
  CHECK(At(picture, kAt + 5, kAt + 25) == "e30000ff");
  CHECK(At(picture, kAt + 8, kAt + 10) == "ffffffff");
}

TEST_CASE("photograph › draws only the part of a sprite that is shown") {
  DrawnSprite drawn = Block(255, 255, {0, 0, 10, 10});
  drawn.crop = Crop{4, 0, 6, 10};
  const Picture picture = DecodePicture(TakePhotograph({&drawn, 1}, {}));
  CHECK(picture.width == 6 + 2 * kPhotographMargin);
  CHECK(At(picture, kPhotographMargin - 1, kPhotographMargin) == "00000000");
  CHECK(At(picture, kPhotographMargin, kPhotographMargin) == "ff0000ff");
}

TEST_CASE("photograph › says why there is none: nothing is seen, or it would be too large") {
  CHECK_THROWS_AS(TakePhotograph({}, {}), Refused);
  CHECK(RefusalOf({}) == Text::kPhotographNothing);
  constexpr int kAround = 2 * kPhotographMargin;
  constexpr int kWidth = 32'768;
  constexpr int kHeight = kPhotographPixelsMax / kWidth;
  for (const int more : {-1, 0, 1}) {
    const int bottom = kHeight - kAround - 1 + more;
    const DrawnSprite apart[] = {Block(1, 255, {0, 0, 1, 1}),
                                 Block(1, 255, {kWidth - kAround - 1, bottom, 1, 1})};
    CHECK((RefusalOf(apart) == Text::kPhotographTooLarge) == (more > 0));
  }
}

TEST_CASE("animation › has each moment for its time, and the label below") {
  const std::vector<Moment> moments = {{0, {Block(255, 255, {0, 0, 10, 10})}},
                                       {4'000, {Block(255, 255, {20, 0, 10, 10})}},
                                       {6'000, {}}};
  const Picture picture = DecodePicture(MakeAnimation(moments, 6'050, Paper(0, 0, 100, 20)));
  constexpr int kAt = kPhotographMargin;
  CHECK(picture.width == 100);
  CHECK(picture.height == 10 + 2 * kAt + 20);
  REQUIRE(picture.frames.size() == 3);
  CHECK(picture.frames[0].delay_ms == 2'950);  // the last five seconds
  CHECK(picture.frames[1].delay_ms == 2'000);
  CHECK(picture.frames[2].delay_ms == 50);
  const std::string ground = At(picture, 0, 0);
  CHECK(At(picture, kAt, kAt) == "ff0000ff");
  CHECK(At(picture, kAt, kAt, 1) == ground);
  CHECK(At(picture, kAt + 20, kAt, 1) == "ff0000ff");
  CHECK(At(picture, kAt + 20, kAt, 2) == ground);
  CHECK(At(picture, 50, picture.height - 1, 2) == "ffffffff");
  CHECK_THROWS_AS(MakeAnimation(std::vector<Moment>{{0, {}}}, 50, {}), Refused);
}

TEST_CASE("animation › is not wider than a chat shows it") {
  constexpr int kWidth = kAnimationSideMax - 2 * kPhotographMargin;
  for (const int more : {-1, 0, 1, 3 * kWidth}) {
    const std::vector<Moment> moments = {{0, {Block(255, 255, {0, 0, kWidth + more, 200})}}};
    const Picture picture = DecodePicture(MakeAnimation(moments, 50, {}));
    CHECK(picture.width == kAnimationSideMax + std::min(more, 0));
    CHECK(At(picture, picture.width / 2, picture.height / 2) == "ff0000ff");
  }
}

TEST_CASE("animation › leaves out every second moment when it would be too long") {
  // Noise, which no codes make shorter.
  auto sheet = std::make_shared<Sheet>();
  sheet->width = sheet->height = sheet->description.frame_width = sheet->description.frame_height =
      600;
  sheet->description.animations["idle"] = {{0}, 1};
  uint32_t state = 1;
  for (int i = 0; i < kChannels * 600 * 600; i++) {
    state = state * 1'664'525 + 1'013'904'223;
    sheet->rgba.push_back(i % kChannels == 3 ? 255 : static_cast<uint8_t>(state >> 24));
  }
  std::vector<Moment> moments;
  for (int i = 0; i < 30; i++) {
    DrawnSprite drawn = Block(0, 255, {0, 0, 600, 600});
    drawn.sheet = sheet;
    drawn.mirrored = i % 3 == 0;
    drawn.x = i % 3;
    moments.push_back({50 * i, {drawn}});
  }
  const Bytes gif = MakeAnimation(moments, 1'500, {});
  CHECK(gif.size() <= kAnimationBytesMax);
  const Picture picture = DecodePicture(gif);
  CHECK(picture.frames.size() == 15);
  CHECK(picture.frames[0].delay_ms == 100);
}

}  // namespace
}  // namespace sprites
