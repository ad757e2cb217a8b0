#include "core/picture/still.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/picture/png.h"
#include "core/picture/stb.h"

namespace sprites {
namespace {

void Append(void* bytes, void* more, int size) {
  const auto* first = static_cast<uint8_t*>(more);
  static_cast<Bytes*>(bytes)->insert(static_cast<Bytes*>(bytes)->end(), first, first + size);
}

Bytes TestPng(int width, int height) {
  const Bytes rgba(size_t{4} * width * height, 200);
  Bytes png;
  stbi_write_png_to_func(Append, &png, width, height, 4, rgba.data(), width * 4);
  return png;
}

// A picture of 8 × 8 pixels whose IDAT holds so many zeros, stored uncompressed (RFC 1951, 3.2.4).
Bytes Inflating(size_t bytes) {
  Bytes packed = {0x78, 0x01};
  for (size_t left = bytes;;) {
    const size_t size = std::min<size_t>(left, 65'535);
    left -= size;
    const auto low = static_cast<uint8_t>(size);
    const auto high = static_cast<uint8_t>(size >> 8);
    packed.insert(packed.end(), {static_cast<uint8_t>(left == 0), low, high,
                                 static_cast<uint8_t>(~low), static_cast<uint8_t>(~high)});
    packed.insert(packed.end(), size, 0);
    if (left == 0) {
      break;
    }
  }
  packed.insert(packed.end(), 4, 0);  // a checksum that is not checked
  const Bytes file = TestPng(8, 8);
  Png png = ReadPng(file);
  for (Chunk& chunk : png.chunks) {
    if (chunk.type == "IDAT") {
      chunk.content = packed;
    }
  }
  return WritePng(png.chunks);
}

Picture DecodedStill(const Bytes& bytes, size_t pixels_max = kPicturePixelsMax) {
  return DecodeStill(bytes, pixels_max);
}

TEST_CASE("still › has a limited number of pixels") {
  const Bytes png = TestPng(10, 10);
  CHECK_THROWS_AS(DecodedStill(png, 99), PictureRefused);
  CHECK(DecodedStill(png, 100).frames[0].rgba.size() == 400);
  CHECK(DecodedStill(png, 101).width == 10);
}

TEST_CASE("still › that inflates to more than its size is rejected") {
  constexpr size_t kRaw = 8 * (1 + 4 * 8);
  constexpr size_t kSlack = 65'536;
  CHECK_THROWS_AS(DecodedStill(Inflating(kRaw - 1)), PictureRefused);
  CHECK_NOTHROW(DecodedStill(Inflating(kRaw)));
  CHECK_NOTHROW(DecodedStill(Inflating(kRaw + kSlack)));
  CHECK_THROWS_AS(DecodedStill(Inflating(kRaw + kSlack + 1)), PictureRefused);
}

TEST_CASE("still › that claims more bytes than it has is rejected before memory is allocated") {
  const Bytes whole = TestPng(40, 20);
  Bytes trailed = whole;
  trailed.insert(trailed.end(), 20, 0xff);
  CHECK_NOTHROW(DecodedStill(trailed));
  constexpr size_t kSecondChunk = 8 + 12 + 13;
  Bytes promising = whole;
  promising[kSecondChunk] = 0x6d;  // 1.8 GB
  CHECK_THROWS_WITH(DecodedStill(promising), "The picture is cut off.");
  for (size_t size = 8; size < whole.size(); size++) {
    CHECK_THROWS_AS(DecodedStill(Bytes(whole.begin(), whole.begin() + size)), PictureRefused);
  }
}

TEST_CASE("still › with a colour type that PNG does not have is rejected") {
  for (const auto& [depth, type] : {std::pair{4, 2}, {16, 3}, {3, 0}, {8, 1}, {8, 7}}) {
    Bytes png = TestPng(8, 8);
    png[24] = static_cast<uint8_t>(depth);
    png[25] = static_cast<uint8_t>(type);
    CHECK_THROWS_AS(DecodedStill(png), PictureRefused);
  }
}

TEST_CASE("still › of another kind is unknown, not damaged") {
  for (const std::string_view text : {"", "RIFF....WEBP", "II*", "x", "\x89PNG", "\xff\xd8\xff"}) {
    CHECK_THROWS_AS(DecodedStill(Bytes(text.begin(), text.end())), PictureUnknown);
  }
  try {
    DecodedStill(Bytes{'B', 'M'});
    FAIL("accepted");
  } catch (const PictureUnknown&) {
    FAIL("unknown");
  } catch (const PictureRefused& refused) {
    CHECK(std::string(refused.what()) == "The picture is damaged.");
  }
}

}  // namespace
}  // namespace sprites
