#include "x11/windows/frame_pixmap.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace sprites {
namespace {

constexpr uint32_t kOpaque = 0xFF000000;

struct Part {
  int x;
  int y;
  int width;
  int height;
  bool operator==(const Part&) const = default;
};

// A frame drawn with letters: `#` is opaque. Rows end with a slash.
std::vector<Part> PartsOf(const std::string& rows) {
  std::vector<uint32_t> pixels;
  for (const char letter : rows) {
    if (letter != '/') {
      pixels.push_back(letter == '#' ? kOpaque : 0);
    }
  }
  const auto width = static_cast<int>(rows.find('/'));
  std::vector<Part> parts;
  for (const xcb_rectangle_t& part :
       OpaqueParts(pixels.data(), width, static_cast<int>(pixels.size()) / width)) {
    parts.push_back({part.x, part.y, part.width, part.height});
  }
  return parts;
}

TEST_CASE("frame pixmap › parts are the runs of opaque pixels, and equal rows are one") {
  CHECK(PartsOf("..../..../").empty());
  CHECK(PartsOf("####/####/") == std::vector<Part>{{0, 0, 4, 2}});
  CHECK(PartsOf("#..#/#..#/####/") == std::vector<Part>{{0, 0, 1, 2}, {3, 0, 1, 2}, {0, 2, 4, 1}});
  CHECK(PartsOf(".##./..../.##./") == std::vector<Part>{{1, 0, 2, 1}, {1, 2, 2, 1}});
}

TEST_CASE("frame pixmap › alpha of an opaque pixel: below the limit, the limit, above it") {
  for (const uint32_t alpha : {kOpaqueMin - 1, kOpaqueMin, kOpaqueMin + 1}) {
    const uint32_t pixels[] = {0, alpha << 24};
    CHECK(OpaqueParts(pixels, 2, 1).size() == (alpha >= kOpaqueMin ? 1 : 0));
  }
}

// A frame with so many parts, 64 in each row but the last; no row equals the one above.
std::vector<xcb_rectangle_t> ShapeWith(size_t parts) {
  constexpr int kInRow = 64;
  constexpr int kWidth = 2 * kInRow + 1;
  const int height = static_cast<int>(parts + kInRow - 1) / kInRow;
  std::vector<uint32_t> pixels(static_cast<size_t>(kWidth) * height);
  for (size_t i = 0; i < parts; i++) {
    const size_t row = i / kInRow;
    pixels[row * kWidth + row % 2 + 2 * (i % kInRow)] = kOpaque;
  }
  return OpaqueParts(pixels.data(), kWidth, height);
}

TEST_CASE("frame pixmap › parts: one less than the limit, the limit; one more joins each row") {
  CHECK(ShapeWith(kShapePartsMax - 1).size() == kShapePartsMax - 1);
  CHECK(ShapeWith(kShapePartsMax).size() == kShapePartsMax);
  const auto joined = ShapeWith(kShapePartsMax + 1);
  CHECK(joined.size() == kShapePartsMax / 64 + 1);
  CHECK(joined.front().width == 127);
  CHECK(joined.back().width == 1);
}

TEST_CASE("frame pixmap › the largest frame of a stranger has few parts, whatever it shows") {
  constexpr int kSide = 3'840;  // 320 dip, four times as large, on a screen at 300 %
  std::vector<uint32_t> pixels(static_cast<size_t>(kSide) * kSide);
  for (size_t i = 0; i < pixels.size(); i++) {
    pixels[i] = (i + i / kSide) % 2 == 0 ? kOpaque : 0;
  }
  CHECK(OpaqueParts(pixels.data(), kSide, kSide).size() == kSide);
}

}  // namespace
}  // namespace sprites
