#include "posix/photo.h"

#include <doctest/doctest.h>
#include <turbojpeg.h>

#include <algorithm>
#include <memory>
#include <string>

#include "core/picture/importer.h"

namespace sprites {
namespace {

struct Left {
  int width;
  int height;
};

// A JPEG whose left half is red, and whose right half is blue.
Bytes Jpeg(Left size, int flags = 0) {
  Bytes rgb;
  for (int i = 0; i < size.width * size.height; i++) {
    const bool is_left = i % size.width < size.width / 2;
    rgb.insert(rgb.end(), {static_cast<uint8_t>(is_left ? 255 : 0), 0,
                           static_cast<uint8_t>(is_left ? 0 : 255)});
  }
  void* coder = tjInitCompress();
  unsigned char* bytes = nullptr;
  unsigned long count = 0;
  REQUIRE(tjCompress2(coder, rgb.data(), size.width, 0, size.height, TJPF_RGB, &bytes, &count,
                      TJSAMP_444, 95, flags) == 0);
  const Bytes jpeg(bytes, bytes + count);
  tjFree(bytes);
  tjDestroy(coder);
  return jpeg;
}

// The place of the header of the frame, which has the height at 5 and the width at 7.
size_t FrameOf(const Bytes& jpeg) {
  for (size_t i = 0; i + 1 < jpeg.size(); i++) {
    if (jpeg[i] == 0xFF && (jpeg[i + 1] == 0xC0 || jpeg[i + 1] == 0xC2)) {
      return i;
    }
  }
  FAIL("there is no frame");
  return 0;
}

Bytes WithSize(Bytes jpeg, int width, int height) {
  const size_t frame = FrameOf(jpeg);
  for (const auto& [at, side] : {std::pair{5, height}, {7, width}}) {
    jpeg[frame + at] = static_cast<uint8_t>(side >> 8);
    jpeg[frame + at + 1] = static_cast<uint8_t>(side);
  }
  return jpeg;
}

// The JPEG, with its first scan of all scans repeated until there are so many.
Bytes WithScans(const Bytes& jpeg, size_t scans) {
  std::vector<size_t> starts;
  for (size_t i = 0; i + 1 < jpeg.size(); i++) {
    if (jpeg[i] == 0xFF && jpeg[i + 1] == 0xDA) {
      starts.push_back(i);
    }
  }
  REQUIRE(starts.size() > 2);
  const size_t last = starts.back();
  Bytes many(jpeg.begin(), jpeg.begin() + static_cast<ptrdiff_t>(last));
  for (size_t i = starts.size() - 1; i < scans; i++) {
    many.insert(many.end(), jpeg.begin() + static_cast<ptrdiff_t>(last), jpeg.end() - 2);
  }
  many.insert(many.end(), {0xFF, 0xD9});
  return many;
}

// Adds the orientation that a camera writes.
Bytes Turned(Bytes jpeg, uint8_t orientation) {
  const Bytes exif = {0xFF, 0xE1, 0, 34, 'E', 'x',         'i', 'f', 0, 0,    'M', 'M',
                      0,    42,   0, 0,  0,   8,           0,   1,   1, 0x12, 0,   3,
                      0,    0,    0, 1,  0,   orientation, 0,   0,   0, 0,    0,   0};
  jpeg.insert(jpeg.begin() + 2, exif.begin(), exif.end());
  return jpeg;
}

bool IsRed(const Picture& picture, int x, int y) {
  const uint8_t* pixel = &picture.frames[0].rgba[(static_cast<size_t>(y) * picture.width + x) * 4];
  return pixel[0] > 200 && pixel[1] < 60 && pixel[2] < 60 && pixel[3] == 255;
}

TEST_CASE("photo › a JPEG is decoded, baseline and progressive, and becomes a sprite") {
  for (const int flags : {0, TJFLAG_PROGRESSIVE}) {
    const Bytes jpeg = Jpeg({64, 48}, flags);
    const Picture picture = DecodePhoto(jpeg);
    CHECK(picture.width == 64);
    CHECK(picture.height == 48);
    REQUIRE(picture.frames.size() == 1);
    CHECK(IsRed(picture, 8, 24));
    CHECK(!IsRed(picture, 56, 24));
    CHECK(ReadSheet(SprOfPicture(picture, "holiday.jpg"))->description.name == "holiday");
  }
}

TEST_CASE("photo › is turned as the camera was held") {
  const Picture picture = DecodePhoto(Turned(Jpeg({64, 48}), 6));
  CHECK(picture.width == 48);
  CHECK(picture.height == 64);
  CHECK(IsRed(picture, 24, 8));
  CHECK(!IsRed(picture, 24, 56));
}

TEST_CASE("photo › pixels: one less than the limit, the limit, one row more") {
  const Bytes jpeg = Jpeg({40, 30});
  CHECK(DecodePhoto(jpeg, 40 * 30 + 1).width == 40);
  CHECK(DecodePhoto(jpeg, 40 * 30).width == 40);
  CHECK_THROWS_AS(DecodePhoto(jpeg, 40 * 30 - 1), PictureRefused);
}

TEST_CASE("photo › a header that claims 64 thousand pixels a side costs no memory") {
  for (const int side : {static_cast<int>(kPictureSidePixelsMax) + 1, 65'500}) {
    CHECK_THROWS_AS(DecodePhoto(WithSize(Jpeg({16, 16}), side, side)), PictureRefused);
    CHECK_THROWS_AS(DecodePhoto(WithSize(Jpeg({16, 16}), side, 1)), PictureRefused);
  }
}

TEST_CASE("photo › a longer side below twice the least is read whole, from there on a part of it") {
  const auto side = [](int width) { return DecodePhoto(Jpeg({width, 8})).width; };
  CHECK(side(2 * kPhotoSideMin - 1) == 2 * kPhotoSideMin - 1);
  CHECK(side(2 * kPhotoSideMin) == kPhotoSideMin);
  CHECK(side(2 * kPhotoSideMin + 1) == kPhotoSideMin + 1);
  CHECK(side(8 * kPhotoSideMin - 1) == 2 * kPhotoSideMin);
  CHECK(side(8 * kPhotoSideMin) == kPhotoSideMin);
  CHECK(side(16 * kPhotoSideMin) == 2 * kPhotoSideMin);
}

TEST_CASE("photo › up to 500 scans are read, more are rejected") {
  constexpr size_t kScansMax = 500;  // of TJFLAG_LIMITSCANS
  const Bytes jpeg = Jpeg({16, 16}, TJFLAG_PROGRESSIVE);
  CHECK(DecodePhoto(WithScans(jpeg, kScansMax - 1)).width == 16);
  CHECK(DecodePhoto(WithScans(jpeg, kScansMax)).width == 16);
  CHECK_THROWS_AS(DecodePhoto(WithScans(jpeg, kScansMax + 1)), PictureRefused);
}

TEST_CASE("photo › damaged files and other kinds are rejected, or shown as far as they go") {
  const Bytes jpeg = Jpeg({64, 48});
  for (size_t size = 0; size < 3; size++) {
    CHECK_THROWS_AS(DecodePhoto({jpeg.data(), size}), PictureUnknown);
  }
  CHECK_THROWS_AS(DecodePhoto(Bytes(100, 'x')), PictureUnknown);
  for (size_t size = 3; size < jpeg.size(); size++) {
    try {
      const Picture picture = DecodePhoto({jpeg.data(), size});
      CHECK(picture.width == 64);
    } catch (const PictureRefused&) {
    }
  }
  Bytes wrong = jpeg;
  for (size_t i = FrameOf(jpeg); i < wrong.size(); i++) {
    wrong[i] ^= 0x5A;
    try {
      DecodePhoto(wrong);
    } catch (const PictureRefused&) {
    }
  }
}

}  // namespace
}  // namespace sprites
