#include "core/picture/gif_writer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "test/core/vectors.h"

namespace sprites {
namespace {

constexpr size_t kRoom = 1'048'576;

struct DrawnFrame {
  std::vector<uint32_t> pixels;
  int ms = 0;
};

// The frames of a case: noise in a box, over the frame before.
std::vector<DrawnFrame> FramesOf(const Json& one) {
  const int width = one["width"];
  const int height = one["height"];
  std::vector<uint32_t> shown(static_cast<size_t>(width * height), 0xffffff);
  std::vector<DrawnFrame> frames;
  for (const Json& frame : one["frames"]) {
    const std::vector<int> box = frame["box"];
    uint32_t state = frame["seed"];
    for (int y = box[1]; y <= box[3]; y++) {
      for (int x = box[0]; x <= box[2]; x++) {
        uint32_t& pixel = shown[static_cast<size_t>(y * width + x)];
        pixel = 0;
        for (int i = 0; i < 3; i++) {
          state = state * 1'664'525 + 1'013'904'223;
          pixel = pixel << 8 | (state >> 24 & frame["mask"].get<uint32_t>());
        }
      }
    }
    frames.push_back({shown, frame["ms"]});
  }
  return frames;
}

// Nothing when it is longer than it may be.
std::optional<Bytes> GifOf(const Json& one, size_t bytes_max) {
  const std::vector<DrawnFrame> frames = FramesOf(one);
  Palette palette;
  for (const DrawnFrame& frame : frames) {
    palette.Count(frame.pixels);
  }
  palette.Choose();
  GifWriter gif(one["width"], one["height"], &palette, bytes_max);
  for (const DrawnFrame& frame : frames) {
    if (!gif.Add(frame.pixels, frame.ms)) {
      return std::nullopt;
    }
  }
  return gif.End();
}

TEST_CASE("gif writer › writes the same bytes as the page") {
  for (const Json& one : ReadVectors(GIF_VECTORS)) {
    const std::string name = one["name"];
    CAPTURE(name);
    const auto bytes = GifOf(one, kRoom);
    REQUIRE(bytes);
    CHECK(bytes->size() == one["size"].get<size_t>());
    CHECK(Sha256Hex(*bytes) == one["sha256"].get<std::string>());
  }
}

TEST_CASE("gif writer › writes what is drawn, once while nothing changes") {
  for (const Json& one : ReadVectors(GIF_VECTORS)) {
    const std::string name = one["name"];
    CAPTURE(name);
    const Picture read = DecodePicture(*GifOf(one, kRoom));
    const std::vector<DrawnFrame> frames = FramesOf(one);
    size_t at = 0;
    for (size_t i = 0; i < frames.size(); i++) {
      if (i > 0 && frames[i].pixels == frames[i - 1].pixels) {
        continue;
      }
      REQUIRE(at < read.frames.size());
      // Eight levels of a channel are one bucket, and a box of buckets one colour.
      const int far = one["frames"][i]["mask"].get<int>() % 8 != 0 ? 40 : 0;
      int farthest = 0;
      for (size_t pixel = 0; pixel < frames[i].pixels.size(); pixel++) {
        for (size_t channel = 0; channel < 3; channel++) {
          const int drawn = static_cast<int>(frames[i].pixels[pixel] >> (16 - 8 * channel) & 255);
          farthest = std::max(farthest,
                              std::abs(drawn - read.frames[at].rgba[kChannels * pixel + channel]));
        }
      }
      CHECK(farthest <= far);
      at++;
    }
    CHECK(at == read.frames.size());
  }
}

TEST_CASE("gif writer › a file is not longer than it may be") {
  for (const Json& one : ReadVectors(GIF_VECTORS)) {
    const size_t size = one["size"];
    CHECK(GifOf(one, size + 1));
    CHECK(GifOf(one, size));
    CHECK(!GifOf(one, size - 1));
  }
}

}  // namespace
}  // namespace sprites
