// Plays cutout.vectors.json, as test/cutout.test.ts does with the page's pictures.
#include "core/picture/cutout.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/picture/png.h"
#include "test/core/vectors.h"

namespace sprites {
namespace {

// A picture of letters, whose rows spaces divide.
void AddFrame(const std::string& rows, const Json& colours, Picture* picture) {
  picture->width = static_cast<int>(std::min(rows.find(' '), rows.size()));
  picture->height = 1;
  PictureFrame frame;
  for (const char letter : rows) {
    if (letter == ' ') {
      picture->height++;
      continue;
    }
    for (const Json& channel : colours[std::string(1, letter)]) {
      frame.rgba.push_back(channel.get<uint8_t>());
    }
  }
  picture->frames.push_back(std::move(frame));
}

std::string MaskOf(const Picture& picture) {
  std::string mask;
  for (size_t i = 0; i < picture.frames[0].rgba.size(); i += kChannels) {
    const bool begins_row = i > 0 && i / kChannels % static_cast<size_t>(picture.width) == 0;
    mask += begins_row ? " " : "";
    mask += picture.frames[0].rgba[i + 3] == 0 ? '.' : '#';
  }
  return mask;
}

Json BoxOf(const Picture& picture) {
  const auto box = ContentBox(picture);
  return box ? Json{box->left, box->top, box->width, box->height} : Json();
}

TEST_CASE("cut-out › has the numbers of cutout.vectors.json, and plays its cases alike") {
  const Json vectors = ReadVectors(CUTOUT_VECTORS);
  CHECK(vectors["constants"]["PHOTO_SIDE"] == kPhotoSide);
  CHECK(vectors["constants"]["DRAWN_PIXELS_MAX"] == kDrawnPixelsMax);
  for (const Json& one : vectors["cuts"]) {
    CAPTURE(one["name"]);
    Picture picture;
    AddFrame(one["picture"], vectors["colours"], &picture);
    const auto cut = WithoutBackground(picture, one["isPhoto"].get<bool>());
    const Json outcome = cut ? Json{{"mask", MaskOf(*cut)}, {"box", BoxOf(*cut)}} : Json();
    CHECK(outcome == one["expect"]);
  }
  for (const Json& one : vectors["trims"]) {
    CAPTURE(one["name"]);
    Picture picture;
    for (const Json& frame : one["frames"]) {
      AddFrame(frame, vectors["colours"], &picture);
    }
    CHECK(BoxOf(picture) == one["expect"]);
  }
}

TEST_CASE("cut-out › a photograph is a still picture that is no PNG or GIF, or a large one") {
  const Bytes jpeg{0xFF, 0xD8, 0xFF};
  const auto png = AsBytes(kPngSignature);
  const auto gif = AsBytes("GIF89a");
  const auto still = [](int width, int height) { return Picture{width, height, {{}}}; };
  CHECK(IsPhoto(jpeg, still(1, 1)));
  CHECK(!IsPhoto(jpeg, Picture{1, 1, {{}, {}}}));
  for (const auto file : {png, gif}) {
    CHECK(!IsPhoto(file, still(2048, 1023)));
    CHECK(!IsPhoto(file, still(2048, 1024)));
    CHECK(IsPhoto(file, still(2048, 1025)));
    CHECK(!IsPhoto(file, Picture{2048, 1025, {{}, {}}}));
  }
}

TEST_CASE("cut-out › an animation has no background") {
  Picture picture{4, 4, {{Bytes(64, 255)}}};
  picture.frames[0].rgba[20] = 0;  // another colour inside
  CHECK(WithoutBackground(picture, false));
  picture.frames.push_back(picture.frames[0]);
  CHECK(!WithoutBackground(picture, false));
}

TEST_CASE("cut-out › a picture is trimmed to what is seen of it") {
  Picture picture{4, 3, {{Bytes(48, 0)}, {Bytes(48, 0)}}};
  picture.frames[0].rgba[4 * 5 + 3] = 9;   // 1, 1
  picture.frames[1].rgba[4 * 10 + 3] = 7;  // 2, 2
  const Picture trimmed = Trimmed(picture);
  CHECK(trimmed.width == 2);
  CHECK(trimmed.height == 2);
  CHECK(trimmed.frames[0].rgba == Bytes{0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(trimmed.frames[1].rgba == Bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7});
}

}  // namespace
}  // namespace sprites
