#include "core/picture/orientation.h"

#include <doctest/doctest.h>

#include <string>

namespace sprites {
namespace {

// The start of a JPEG whose Exif has this orientation, after another segment and another tag.
Bytes Jpeg(uint16_t orientation, bool is_big_endian, uint16_t type = 3) {
  Bytes tiff;
  const auto put = [&](uint32_t number, int size) {
    for (int i = 0; i < size; i++) {
      tiff.push_back(static_cast<uint8_t>(number >> 8 * (is_big_endian ? size - 1 - i : i)));
    }
  };
  tiff.assign(2, is_big_endian ? 'M' : 'I');
  put(42, 2);
  put(8, 4);
  put(2, 2);
  for (const auto& [tag, value] : {std::pair<uint16_t, uint16_t>{271, 7}, {274, orientation}}) {
    put(tag, 2);
    put(type, 2);
    put(1, 4);
    put(value, 2);
    put(0, 2);
  }
  put(0, 4);
  Bytes jpeg = {0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xe1, 0};
  jpeg.push_back(static_cast<uint8_t>(2 + 6 + tiff.size()));
  jpeg.insert(jpeg.end(), {'E', 'x', 'i', 'f', 0, 0});
  jpeg.insert(jpeg.end(), tiff.begin(), tiff.end());
  jpeg.insert(jpeg.end(), {0xff, 0xda, 0, 2});
  return jpeg;
}

// A picture of letters, each in the red of its pixel; rows end with a slash.
Picture Letters(const std::string& rows) {
  Picture picture{static_cast<int>(rows.find('/')), 0, {{{}, 40}}};
  for (const char c : rows) {
    if (c == '/') {
      picture.height++;
    } else {
      picture.frames[0].rgba.insert(picture.frames[0].rgba.end(),
                                    {static_cast<uint8_t>(c), 1, 2, 3});
    }
  }
  return picture;
}

std::string Seen(const Picture& picture) {
  std::string rows;
  for (size_t i = 0; i < picture.frames[0].rgba.size(); i += 4) {
    rows += static_cast<char>(picture.frames[0].rgba[i]);
    rows += i / 4 % picture.width == static_cast<size_t>(picture.width) - 1 ? "/" : "";
  }
  return rows;
}

TEST_CASE("orientation › is read in either byte order, and is upright when not 1 to 8") {
  for (const bool is_big_endian : {true, false}) {
    for (uint16_t value = 0; value <= 9; value++) {
      CHECK(OrientationOf(Jpeg(value, is_big_endian)) == (value < 1 || value > 8 ? 1 : value));
    }
    CHECK(OrientationOf(Jpeg(6, is_big_endian, 4)) == 1);
  }
}

TEST_CASE("orientation › is upright when the file is cut off, damaged, or not a JPEG") {
  const Bytes whole = Jpeg(6, true);
  for (size_t size = 0; size + 14 < whole.size(); size++) {
    CHECK(OrientationOf(Bytes(whole.begin(), whole.begin() + static_cast<long>(size))) == 1);
  }
  for (size_t i = 0; i < whole.size(); i++) {
    for (const uint8_t value : {0x00, 0x01, 0x7f, 0xff}) {
      Bytes damaged = whole;
      damaged[i] = value;
      const int orientation = OrientationOf(damaged);
      CHECK((orientation >= 1 && orientation <= 8));
    }
  }
  CHECK(OrientationOf(Bytes{}) == 1);
  CHECK(OrientationOf(Bytes(100, 0xff)) == 1);
}

TEST_CASE("orientation › turns all eight upright") {
  // What a camera writes for an F of two columns and three rows, held in each of the eight ways.
  const char* upright = "ab/cd/ef/";
  const char* written[] = {"ab/cd/ef/", "ba/dc/fe/", "fe/dc/ba/", "ef/cd/ab/",
                           "ace/bdf/",  "bdf/ace/",  "fdb/eca/",  "eca/fdb/"};
  for (int orientation = 1; orientation <= 8; orientation++) {
    CAPTURE(orientation);
    const Picture picture = Upright(Letters(written[orientation - 1]), orientation);
    CHECK(Seen(picture) == upright);
    CHECK(picture.width == 2);
    CHECK(picture.height == 3);
    CHECK(picture.frames[0].delay_ms == 40);
  }
}

}  // namespace
}  // namespace sprites
