#include "core/picture/picture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "core/motion/behaviour.h"
#include "core/picture/stb.h"
#include "test/core/test_spr.h"

namespace sprites {
namespace {

// A picture whose left half is red and whose right half is transparent.
Picture HalfRed(int width, int height, size_t frames = 1) {
  Picture picture{width, height, {}};
  for (size_t i = 0; i < frames; i++) {
    Bytes rgba(static_cast<size_t>(width) * height * 4, 0);
    for (int y = 0; y < height; y++) {
      for (int x = 0; x < width / 2; x++) {
        uint8_t* pixel = &rgba[(static_cast<size_t>(y) * width + x) * 4];
        pixel[0] = 255;
        pixel[3] = 255;
      }
    }
    picture.frames.push_back({rgba, 100});
  }
  return picture;
}

Bytes Encoded(const Picture& picture, const char* kind) {
  Bytes out;
  const auto append = [](void* bytes, void* more, int size) {
    const auto* first = static_cast<uint8_t*>(more);
    static_cast<Bytes*>(bytes)->insert(static_cast<Bytes*>(bytes)->end(), first, first + size);
  };
  const uint8_t* rgba = picture.frames[0].rgba.data();
  const std::string_view name = kind;
  if (name == "png") {
    stbi_write_png_to_func(append, &out, picture.width, picture.height, 4, rgba, picture.width * 4);
  } else {
    stbi_write_bmp_to_func(append, &out, picture.width, picture.height, 4, rgba);
  }
  return out;
}

// Two frames of 2 × 1 pixels, 100 and 300 ms: red all over; then blue on its left pixel only.
Bytes TestGif() {
  return {'G', 'I', 'F',  '8',  '9', 'a',  2,    0, 1,    0,    0x80, 0,    0,    255, 0,   0, 0,
          0,   255, 0x21, 0xf9, 4,   4,    10,   0, 0,    0,    0x2c, 0,    0,    0,   0,   2, 0,
          1,   0,   0,    2,    2,   0x04, 0x0a, 0, 0x21, 0xf9, 4,    4,    30,   0,   0,   0, 0x2c,
          0,   0,   0,    0,    1,   0,    1,    0, 0,    2,    2,    0x4c, 0x01, 0,   0x3b};
}

TEST_CASE("picture › PNG and BMP become sprites that stand on their feet") {
  for (const char* kind : {"png", "bmp"}) {
    CAPTURE(kind);
    const Bytes bytes =
        SprOfFile(Encoded(HalfRed(40, 20), kind), "C:\\Pictures\\my cat.v2.png").spr;
    const SheetPointer sheet = ReadSheet(bytes);
    const Description& description = sheet->description;
    CHECK(description.name == "my cat.v2");
    CHECK(description.hitbox[2] == 20);  // its right half is transparent
    CHECK(description.hitbox[3] == 20);
    CHECK(description.hitbox[1] + 20 == description.frame_height);
    CHECK(description.scale == doctest::Approx(96.0 / 20));
    for (const char* name : {"idle", "walk", "fall", "drag", "land", "climb", "sleep"}) {
      CHECK(description.animations.contains(name));
    }
    // The foot of the first cell is red.
    const int row = description.frame_height - 1;
    const auto pixel = [&](int x) {
      return &sheet->rgba[(size_t{1} * row * sheet->width + x) * 4];
    };
    const int left = description.hitbox[0];
    CHECK(pixel(left + 5)[0] > 240);
    CHECK(pixel(left + 5)[1] < 15);
    CHECK(pixel(left + 5)[3] == 255);
  }
}

TEST_CASE("picture › a GIF keeps its frames and their delays") {
  const Picture picture = DecodePicture(TestGif());
  REQUIRE(picture.frames.size() == 2);
  CHECK(picture.frames[0].delay_ms == 100);
  CHECK(picture.frames[1].delay_ms == 300);
  const SheetPointer sheet = ReadSheet(SprOfPicture(picture, "blink.gif"));
  const Animation& idle = sheet->description.animations.find("idle")->second;
  CHECK(idle.frames == std::vector<uint16_t>{0, 1, 1, 1});
  CHECK(idle.fps == doctest::Approx(10));
}

TEST_CASE("picture › a photograph of any size is scaled down to a sprite") {
  for (const int side : {128, 129, 3000}) {
    Picture photo = HalfRed(side, side / 2);
    for (size_t alpha = 3; alpha < photo.frames[0].rgba.size(); alpha += 4) {
      photo.frames[0].rgba[alpha] = 255;
    }
    const SheetPointer sheet = ReadSheet(SprOfPicture(photo, "photo.jpg"));
    CHECK(sheet->description.hitbox[2] == 128);
    CHECK(sheet->description.hitbox[3] == doctest::Approx(64).epsilon(0.02));
  }
}

TEST_CASE("picture › of noise fits at a smaller size") {
  Picture noise = HalfRed(128, 128, 30);
  uint32_t state = 1;
  for (PictureFrame& frame : noise.frames) {
    for (uint8_t& byte : frame.rgba) {
      state = state * 1664525 + 1013904223;
      byte = static_cast<uint8_t>(state >> 24);
    }
  }
  const Bytes bytes = SprOfPicture(noise, "noise.png");
  CHECK(bytes.size() <= kSprBytesMax);
  CHECK(ReadSheet(bytes)->description.hitbox[2] < 128);
}

TEST_CASE("picture › an animation has at most 64 frames, of more every nth") {
  CHECK_THROWS_AS(SprOfPicture(HalfRed(8, 8, kPictureFramesMax + 1), "x"), PictureRefused);
  const SheetPointer sheet = ReadSheet(SprOfPicture(HalfRed(8, 8, kPictureFramesMax), "x"));
  CHECK(sheet->description.animations.find("idle")->second.frames.size() == kPictureFramesMax);
  CHECK_THROWS_AS(SprOfPicture(Picture{}, "x"), PictureRefused);
}

TEST_CASE(
    "picture › a delay and the steps of an animation: below their limits, at them, above them") {
  const auto idle_of = [](const std::vector<int>& delays_ms) {
    Picture picture = HalfRed(8, 8, delays_ms.size());
    for (size_t i = 0; i < delays_ms.size(); i++) {
      picture.frames[i].delay_ms = delays_ms[i];
    }
    return ReadSheet(SprOfPicture(picture, "x"))->description.animations.find("idle")->second;
  };
  for (const int delay_ms : {19, 20, 21, 4'999, 5'000, 5'001}) {
    CAPTURE(delay_ms);
    CHECK(idle_of({delay_ms, delay_ms}).fps ==
          doctest::Approx(1000.0 / std::clamp(delay_ms, 20, 5'000)).epsilon(1e-5));
  }
  CHECK(idle_of({20, 5'000, 80}).frames.size() == 255);
  CHECK(idle_of({20, 5'000, 100}).frames.size() == 256);
  CHECK(idle_of({20, 5'000, 120}).frames.size() == 256);
  CHECK(idle_of({20, 5'000, 5'000}).frames.size() <= 258);  // each of three is rounded
}

TEST_CASE("picture › that is fully transparent is rejected") {
  Picture clear{2, 2, {{Bytes(16, 0), 0}, {Bytes(16, 0), 0}}};
  CHECK_THROWS_AS(SprOfPicture(clear, "x"), PictureRefused);
  clear.frames[1].rgba[15] = 1;
  CHECK_NOTHROW(SprOfPicture(clear, "x"));
}

TEST_CASE("picture › gets a plain name") {
  const auto name_of = [](const char* file) {
    return ReadSheet(SprOfPicture(HalfRed(4, 4), file))->description.name;
  };
  CHECK(name_of("/home/ann/Miso.png") == "Miso");
  CHECK(name_of("") == "Picture");
  CHECK(name_of("\u202e.png") == "Picture");
  CHECK(name_of(".png") == "Picture");
  for (const size_t size : {23, 24, 25}) {
    CHECK(name_of((std::string(size, 'n') + ".png").c_str()) ==
          std::string(std::min<size_t>(size, 24), 'n'));
  }
}

TEST_CASE("picture › a .spr stays unchanged, and a broken one is rejected as a .spr") {
  const Bytes spr = TestSpr();
  CHECK(SprOfFile(spr, "x.spr").spr == spr);
  CHECK(SprOfFile(spr, "x.spr").other.empty());
  Bytes broken = spr;
  broken[broken.size() - 20] ^= 1;
  CHECK_THROWS_AS(SprOfFile(broken, "x.spr"), SprRefused);
}

TEST_CASE("picture › says why a file is not a picture") {
  CHECK_THROWS_AS(DecodePicture(Bytes{}), PictureRefused);
  CHECK_THROWS_AS(DecodePicture(Bytes(100, 'x')), PictureRefused);
  const Bytes png = Encoded(HalfRed(40, 20), "png");
  CHECK_THROWS_AS(DecodePicture(Bytes(png.begin(), png.begin() + 50)), PictureRefused);
  const Bytes gif = TestGif();
  for (size_t size = 0; size < gif.size(); size++) {
    try {
      DecodePicture(Bytes(gif.begin(), gif.begin() + static_cast<long>(size)));
    } catch (const PictureRefused&) {
      continue;
    }
  }
}

TEST_CASE("picture › with too many pixels is rejected before it is decoded") {
  Bytes gif = TestGif();
  gif[7] = gif[9] = 0x40;  // 16 386 × 16 385
  CHECK_THROWS_AS(DecodePicture(gif), PictureRefused);
  Bytes file(kPictureBytesMax + 1, 0);
  CHECK_THROWS_AS(DecodePicture(file), PictureRefused);
}

// A red square of 20 × 20 in the middle of a white picture.
Picture RedOnWhite() {
  Picture picture{40, 40, {{Bytes(size_t{40} * 40 * 4, 255), 0}}};
  for (int y = 10; y < 30; y++) {
    for (int x = 10; x < 30; x++) {
      uint8_t* pixel = &picture.frames[0].rgba[size_t(y * 40 + x) * 4];
      pixel[1] = pixel[2] = 0;
    }
  }
  return picture;
}

TEST_CASE("picture › a photograph is cut out of its background, and both versions are made") {
  const auto width_of = [](const Bytes& spr) { return ReadSheet(spr)->description.hitbox[2]; };
  const DroppedSpr photo = SprOfFile(Encoded(RedOnWhite(), "bmp"), "cat.bmp");
  CHECK(photo.is_cut);
  CHECK(width_of(photo.spr) == 18);  // without a pixel of the rim at each side
  CHECK(width_of(photo.other) == 40);
  CHECK(ReadSheet(photo.spr)->description.name == "cat");
}

TEST_CASE("picture › what is drawn keeps its background, and both versions are made") {
  const auto width_of = [](const Bytes& spr) { return ReadSheet(spr)->description.hitbox[2]; };
  const DroppedSpr drawing = SprOfFile(Encoded(RedOnWhite(), "png"), "cat.png");
  CHECK(!drawing.is_cut);
  CHECK(width_of(drawing.spr) == 40);
  CHECK(width_of(drawing.other) == 20);
}

TEST_CASE("picture › without a background there is one version") {
  CHECK(
      SprOfFile(Encoded(HalfRed(40, 20), "bmp"), "x").other.empty());  // it is transparent already
  CHECK(SprOfFile(TestGif(), "x").other.empty());                      // an animation
}

TEST_CASE("picture › a picture that the shell decodes is a photograph") {
  const DroppedSpr photo = SprOfFile(Bytes{0xFF, 0xD8, 0xFF}, "cat.jpg",
                                     [](std::span<const uint8_t>) { return RedOnWhite(); });
  CHECK(photo.is_cut);
  const auto broken = [](std::span<const uint8_t>) { return Picture{4000, 4000, {{Bytes(4), 0}}}; };
  CHECK_THROWS_AS(SprOfFile(Bytes{0xFF, 0xD8, 0xFF}, "cat.jpg", broken), PictureRefused);
  CHECK_THROWS_AS(SprOfFile(Bytes{0xFF, 0xD8, 0xFF}, "cat.jpg"), PictureUnknown);
}

TEST_CASE("picture › transparent margins are trimmed, so that a sprite stands on the ground") {
  Picture picture{40, 30, {{Bytes(size_t{40} * 30 * 4, 0), 0}}};
  for (const int y : {5, 14}) {
    for (const int x : {10, 29}) {
      picture.frames[0].rgba[size_t(y * 40 + x) * 4 + 3] = 255;
    }
  }
  Picture tight{20, 10, {{Bytes(size_t{20} * 10 * 4, 0), 0}}};
  for (const int at : {0, 19, 180, 199}) {
    tight.frames[0].rgba[size_t(at) * 4 + 3] = 255;
  }
  CHECK(SprOfPicture(picture, "x.png") == SprOfPicture(tight, "x.png"));
}

}  // namespace
}  // namespace sprites
