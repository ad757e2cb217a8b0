#include "core/picture/gif.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace sprites {
namespace {

constexpr int kColourBits = 2;  // of the tables here: red, green, blue and white
const Bytes kColours = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
const Bytes kTheirColours = {9, 9, 9, 8, 8, 8, 7, 7, 7, 6, 6, 6};

enum Colour : uint8_t { kRed, kGreen, kBlue, kWhite };

struct Image {
  int left = 0;
  int top = 0;
  int width = 1;
  int height = 1;
  Bytes pixels;
  int delay = 0;  // of 10 ms
  int disposal = 0;
  std::optional<uint8_t> see_through;
  bool is_interlaced = false;
  Bytes own_colours;
  bool has_control = true;
};

void Put16(Bytes* bytes, int value) {
  bytes->push_back(static_cast<uint8_t>(value & 255));
  bytes->push_back(static_cast<uint8_t>(value >> 8));
}

// Codes of growing width, lowest bit first.
class CodeWriter {
 public:
  void Put(int code, int bits) {
    held_ |= static_cast<uint32_t>(code) << held_bits_;
    for (held_bits_ += bits; held_bits_ >= 8; held_bits_ -= 8, held_ >>= 8) {
      bytes_.push_back(static_cast<uint8_t>(held_));
    }
  }
  // The bytes in sub-blocks of at most this size.
  Bytes Blocks(size_t block_bytes) {
    Put(0, 7);  // completes the last byte
    Bytes blocks;
    for (size_t at = 0; at < bytes_.size(); at += block_bytes) {
      const size_t size = std::min(block_bytes, bytes_.size() - at);
      blocks.push_back(static_cast<uint8_t>(size));
      blocks.insert(blocks.end(), bytes_.begin() + at, bytes_.begin() + at + size);
    }
    blocks.push_back(0);
    return blocks;
  }

 private:
  Bytes bytes_;
  uint32_t held_ = 0;
  int held_bits_ = 0;
};

// Packs LZW. When all codes are used, it continues with the codes it has.
Bytes Packed(const Bytes& pixels, int colour_bits, size_t block_bytes = 255) {
  const int clear = 1 << colour_bits;
  int bits = colour_bits + 1;
  int next = clear + 2;
  std::map<std::pair<int, int>, int> known;
  CodeWriter writer;
  writer.Put(clear, bits);
  int string = -1;
  for (const uint8_t pixel : pixels) {
    const auto longer = known.find({string, pixel});
    if (string < 0 || longer != known.end()) {
      string = string < 0 ? pixel : longer->second;
      continue;
    }
    writer.Put(string, bits);
    if (next < 4096) {
      if (next == 1 << bits) {
        bits++;
      }
      known[{string, pixel}] = next++;
    }
    string = pixel;
  }
  if (string >= 0) {
    writer.Put(string, bits);
    if (next < 4096 && next == 1 << bits) {
      bits++;
    }
  }
  writer.Put(clear + 1, bits);
  return writer.Blocks(block_bytes);
}

Bytes Gif(int width, int height, const std::vector<Image>& images, bool has_colours = true) {
  Bytes bytes = {'G', 'I', 'F', '8', '9', 'a'};
  Put16(&bytes, width);
  Put16(&bytes, height);
  bytes.push_back(has_colours ? 0x81 : 0);
  Put16(&bytes, 0);
  if (has_colours) {
    bytes.insert(bytes.end(), kColours.begin(), kColours.end());
  }
  for (const Image& image : images) {
    if (image.has_control) {
      const auto flags = image.disposal << 2 | (image.see_through ? 1 : 0);
      bytes.insert(bytes.end(), {0x21, 0xf9, 4, static_cast<uint8_t>(flags)});
      Put16(&bytes, image.delay);
      bytes.push_back(image.see_through.value_or(0));
      bytes.push_back(0);
    }
    bytes.push_back(0x2c);
    for (const int number : {image.left, image.top, image.width, image.height}) {
      Put16(&bytes, number);
    }
    const bool has_own = !image.own_colours.empty();
    bytes.push_back(static_cast<uint8_t>((has_own ? 0x81 : 0) | (image.is_interlaced ? 0x40 : 0)));
    bytes.insert(bytes.end(), image.own_colours.begin(), image.own_colours.end());
    bytes.push_back(kColourBits);
    const Bytes packed = Packed(image.pixels, kColourBits);
    bytes.insert(bytes.end(), packed.begin(), packed.end());
  }
  bytes.push_back(0x3b);
  return bytes;
}

Image Filled(int left, int top, int width, int height, Colour colour) {
  return {left, top, width, height, Bytes(static_cast<size_t>(width) * height, colour)};
}

Picture Decoded(const Bytes& gif) { return DecodeGif(gif, kPicturePixelsMax); }

// A frame as letters, row by row: r g b w, a dot for nothing, a question mark for anything else.
std::string Seen(const Picture& picture, size_t frame) {
  std::string seen;
  const Bytes& rgba = picture.frames.at(frame).rgba;
  for (size_t at = 0; at < rgba.size(); at += 4) {
    const auto is = [&](size_t colour) {
      return rgba[at + 3] == 255 &&
             std::equal(&rgba[at], &rgba[at] + 3, kColours.begin() + 3 * colour);
    };
    const size_t colour = is(0) ? 0 : is(1) ? 1 : is(2) ? 2 : is(3) ? 3 : 4;
    seen += rgba[at + 3] == 0 ? '.' : "rgbw?"[colour];
    if (at / 4 % picture.width == static_cast<size_t>(picture.width) - 1) {
      seen += '/';
    }
  }
  return seen;
}

TEST_CASE("gif › draws each frame over what the previous one left") {
  Image second = Filled(1, 0, 2, 1, kBlue);
  const Picture picture = Decoded(Gif(3, 2, {Filled(0, 0, 2, 2, kRed), second}));
  REQUIRE(picture.frames.size() == 2);
  CHECK(Seen(picture, 0) == "rr./rr./");
  CHECK(Seen(picture, 1) == "rbb/rr./");
}

TEST_CASE("gif › disposes of a frame: leaves it, clears its area, or restores what it hid") {
  struct Way {
    int disposal;
    const char* seen;
  };
  for (const Way& way : {Way{0, "gbr/rrr/"}, Way{1, "gbr/rrr/"}, Way{2, "g.r/rrr/"},
                         Way{3, "grr/rrr/"}, Way{4, "grr/rrr/"}, Way{7, "gbr/rrr/"}}) {
    CAPTURE(way.disposal);
    Image second = Filled(1, 0, 1, 1, kBlue);
    second.disposal = way.disposal;
    const Picture picture =
        Decoded(Gif(3, 2, {Filled(0, 0, 3, 2, kRed), second, Filled(0, 0, 1, 1, kGreen)}));
    CHECK(Seen(picture, 1) == "rbr/rrr/");
    CHECK(Seen(picture, 2) == way.seen);
  }
}

TEST_CASE("gif › restores what consecutive frames hid, even the first one") {
  Image first = Filled(0, 0, 2, 1, kRed);
  first.disposal = 3;
  Image second = Filled(1, 0, 1, 1, kBlue);
  second.disposal = 3;
  const Picture picture = Decoded(Gif(2, 1, {first, second, Filled(0, 0, 1, 1, kGreen)}));
  CHECK(Seen(picture, 0) == "rr/");
  CHECK(Seen(picture, 1) == ".b/");
  CHECK(Seen(picture, 2) == "g./");
}

TEST_CASE("gif › draws neither the transparent colour nor one outside the table") {
  Image second{0, 0, 4, 1, {kRed, kGreen, kBlue, kWhite}};
  second.see_through = kGreen;
  const Picture picture = Decoded(Gif(4, 1, {Filled(0, 0, 4, 1, kWhite), second}));
  CHECK(Seen(picture, 1) == "rwbw/");
  second.see_through.reset();
  second.own_colours = kColours;
  CHECK(Seen(Decoded(Gif(4, 1, {second}, false)), 0) == "rgbw/");
  second.own_colours.clear();
  CHECK(Seen(Decoded(Gif(4, 1, {second}, false)), 0) == "..../");
}

TEST_CASE("gif › uses the colours of a frame for that frame alone") {
  Image second = Filled(1, 0, 1, 1, kRed);
  second.own_colours = kTheirColours;
  const Picture picture =
      Decoded(Gif(3, 1, {Filled(0, 0, 1, 1, kRed), second, Filled(2, 0, 1, 1, kRed)}));
  CHECK(Seen(picture, 2) == "r?r/");
  CHECK(picture.frames[2].rgba[4] == 9);
}

TEST_CASE("gif › puts interlaced rows where they belong, at every height") {
  for (int height = 1; height <= 20; height++) {
    CAPTURE(height);
    Image image{0, 0, 1, height};
    image.is_interlaced = true;
    std::string expected(static_cast<size_t>(height) * 2, '/');
    size_t sent = 0;
    for (const auto& [first, step] : {std::pair{0, 8}, {4, 8}, {2, 4}, {1, 2}}) {
      for (int row = first; row < height; row += step, sent++) {
        image.pixels.push_back(static_cast<uint8_t>(sent % 4));
        expected[static_cast<size_t>(row) * 2] = "rgbw"[sent % 4];
      }
    }
    CHECK(Seen(Decoded(Gif(1, height, {image})), 0) == expected);
  }
}

TEST_CASE("gif › draws nothing outside the screen, whatever a frame's place and disposal") {
  for (const int disposal : {0, 2, 3}) {
    for (const auto& [left, top, seen] : {std::tuple{1, 1, "../.r/"},
                                          {2, 0, "../../"},
                                          {0, 2, "../../"},
                                          {65'535, 65'535, "../../"},
                                          {0, 65'535, "../../"},
                                          {-1 & 0xffff, 0, "../../"}}) {
      Image image = Filled(left, top, 5, 5, kRed);
      image.disposal = disposal;
      const Picture picture = Decoded(Gif(2, 2, {image, Filled(0, 0, 1, 1, kBlue)}));
      CHECK(Seen(picture, 0) == seen);
      CHECK(Seen(picture, 1) == (disposal == 0 && seen[4] == 'r' ? "b./.r/" : "b./../"));
    }
  }
}

TEST_CASE("gif › accepts frames without pixels") {
  for (const int disposal : {0, 2, 3}) {
    for (const auto& [width, height] : {std::pair{0, 0}, {0, 3}, {3, 0}}) {
      Image image = Filled(0, 0, width, height, kRed);
      image.pixels = Bytes(9, kRed);
      image.disposal = disposal;
      CHECK(Seen(Decoded(Gif(2, 1, {image})), 0) == "../");
    }
  }
}

TEST_CASE("gif › treats delays as browsers do: at most 10 ms counts as none") {
  for (const auto& [delay, ms] :
       {std::pair{0, 100}, {1, 100}, {2, 20}, {10, 100}, {65'535, 655'350}}) {
    Image image = Filled(0, 0, 1, 1, kRed);
    image.delay = delay;
    CHECK(Decoded(Gif(1, 1, {image})).frames[0].delay_ms == ms);
  }
  Image image = Filled(0, 0, 1, 1, kRed);
  image.has_control = false;
  CHECK(Decoded(Gif(1, 1, {image})).frames[0].delay_ms == 100);
}

TEST_CASE("gif › keeps at most 64 frames, of more every nth, and adds the delays left out") {
  for (const auto& [frames, kept, first_ms] :
       {std::tuple{kPictureFramesMax - 1, kPictureFramesMax - 1, 100},
        {kPictureFramesMax, kPictureFramesMax, 100},
        {kPictureFramesMax + 1, kPictureFramesMax / 2 + 1, 200},
        {3 * kPictureFramesMax, kPictureFramesMax, 300}}) {
    std::vector<Image> images;
    for (size_t i = 0; i < frames; i++) {
      images.push_back(Filled(0, 0, 1, 1, static_cast<Colour>(i % 4)));
    }
    const Picture picture = Decoded(Gif(1, 1, images));
    CHECK(picture.frames.size() == kept);
    CHECK(picture.frames[0].delay_ms == first_ms);
    CHECK(Seen(picture, 1) == (frames > kPictureFramesMax ? frames % 3 == 0 ? "w/" : "b/" : "g/"));
  }
  std::vector<Image> slow(kPictureFramesMax * 2, Filled(0, 0, 1, 1, kRed));
  for (Image& image : slow) {
    image.delay = 65'535;
  }
  CHECK(Decoded(Gif(1, 1, slow)).frames[0].delay_ms == 655'350);
}

TEST_CASE("gif › limits the pixels of the frames it keeps") {
  const std::vector<Image> two(2, Filled(0, 0, 1, 1, kRed));
  for (const size_t pixels_max : {size_t{19}, size_t{20}, size_t{21}}) {
    if (pixels_max < 20) {
      CHECK_THROWS_AS(DecodeGif(Gif(5, 2, two), pixels_max), PictureRefused);
    } else {
      CHECK(DecodeGif(Gif(5, 2, two), pixels_max).frames.size() == 2);
    }
  }
  // Frames that are left out do not count.
  const std::vector<Image> many(1000, Filled(0, 0, 1, 1, kRed));
  CHECK(DecodeGif(Gif(10, 10, many), 100 * kPictureFramesMax).frames.size() <= kPictureFramesMax);
  CHECK_THROWS_AS(Decoded(Gif(16'385, 1, two)), PictureRefused);
  CHECK_THROWS_AS(Decoded(Gif(0, 1, two)), PictureRefused);
}

TEST_CASE("gif › limits the pixels that all frames draw") {
  constexpr size_t kPixels = 100;
  constexpr int kDrawn = static_cast<int>(kGifDrawnMax * kPixels);
  for (const int drawn : {kDrawn - 1, kDrawn, kDrawn + 1}) {
    Image image{0, 0, drawn, 1, {kRed}};
    if (drawn <= kDrawn) {
      CHECK(Seen(DecodeGif(Gif(1, 1, {image}), kPixels), 0) == "r/");
    } else {
      CHECK_THROWS_AS(DecodeGif(Gif(1, 1, {image}), kPixels), PictureRefused);
    }
  }
}

TEST_CASE(
    "gif › unpacks strings of every length, codes of every width, and continues when they are used "
    "up") {
  uint32_t state = 1;
  for (const int run : {1, 2, 40, 5000}) {  // about so many pixels of one colour in a row
    for (const size_t block_bytes : {1, 2, 254, 255}) {
      CAPTURE(run);
      constexpr int kWidth = 300;
      constexpr int kHeight = 250;
      Bytes pixels;
      uint8_t colour = 0;
      while (pixels.size() < size_t{kWidth} * kHeight) {
        state = state * 1'664'525 + 1'013'904'223;
        if ((state >> 8) % run == 0) {
          colour = static_cast<uint8_t>(state >> 30);
        }
        pixels.push_back(colour);
      }
      Bytes gif = Gif(kWidth, kHeight, {});
      gif.pop_back();
      gif.push_back(0x2c);
      for (const int number : {0, 0, kWidth, kHeight}) {
        Put16(&gif, number);
      }
      gif.insert(gif.end(), {0, kColourBits});
      const Bytes packed = Packed(pixels, kColourBits, block_bytes);
      gif.insert(gif.end(), packed.begin(), packed.end());
      const Picture picture = Decoded(gif);
      bool is_same = true;
      for (size_t i = 0; i < pixels.size(); i++) {
        is_same &= std::equal(&picture.frames[0].rgba[4 * i], &picture.frames[0].rgba[4 * i] + 3,
                              kColours.begin() + 3 * pixels[i]);
      }
      CHECK(is_same);
    }
  }
}

TEST_CASE("gif › accepts first codes of 1 to 8 bits") {
  for (int bits = 0; bits <= 9; bits++) {
    CAPTURE(bits);
    Bytes gif = Gif(4, 1, {});
    gif.pop_back();
    gif.push_back(0x2c);
    for (const int number : {0, 0, 4, 1}) {
      Put16(&gif, number);
    }
    gif.insert(gif.end(), {0, static_cast<uint8_t>(bits)});
    const Bytes packed = Packed({0, 1, 0, 1}, std::max(bits, 1));
    gif.insert(gif.end(), packed.begin(), packed.end());
    if (bits >= 1 && bits <= 8) {
      CHECK(Seen(Decoded(gif), 0) == "rgrg/");
    } else {
      CHECK_THROWS_AS(Decoded(gif), PictureRefused);
    }
  }
}

TEST_CASE("gif › that is cut off shows its complete frames, and is rejected without one") {
  Image own{0, 0, 2, 1, {kRed, kGreen}};
  own.own_colours = kColours;
  own.disposal = 3;
  const Bytes whole = Gif(2, 2, {own, Filled(0, 1, 2, 1, kBlue)});
  size_t shown = 0;
  for (size_t size = 0; size <= whole.size(); size++) {
    const Bytes bytes(whole.begin(), whole.begin() + static_cast<long>(size));
    try {
      const Picture picture = Decoded(bytes);
      CHECK(picture.frames.size() >= shown);
      shown = picture.frames.size();
    } catch (const PictureRefused& refused) {
      CHECK(shown == 0);
      CHECK(std::string(refused.what()).ends_with('.'));
    }
  }
  CHECK(shown == 2);
  CHECK(Seen(Decoded(whole), 1) == "../bb/");
}

TEST_CASE("gif › survives a change of any single byte") {
  const Bytes whole = Gif(3, 2, {Filled(0, 0, 3, 2, kRed), Filled(1, 0, 2, 2, kBlue)});
  for (size_t i = 0; i < whole.size(); i++) {
    for (int value = 0; value < 256; value++) {
      Bytes bytes = whole;
      bytes[i] = static_cast<uint8_t>(value);
      try {
        const Picture picture = DecodeGif(bytes, 1000);
        CHECK(picture.frames.size() <= 2);
      } catch (const PictureRefused&) {
        continue;
      }
    }
  }
}

}  // namespace
}  // namespace sprites
