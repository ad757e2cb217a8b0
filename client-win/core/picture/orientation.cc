#include "core/picture/orientation.h"

#include <optional>
#include <string_view>
#include <utility>

#include "core/picture/png.h"

namespace sprites {

namespace {

constexpr int kUpright = 1;

// Reads numbers; nothing beyond the end of the bytes.
struct Reader {
  std::span<const uint8_t> bytes;
  bool is_big_endian = true;

  std::optional<uint32_t> Number(size_t at, size_t size) const {
    if (at > bytes.size() || size > bytes.size() - at) {
      return std::nullopt;
    }
    uint32_t number = 0;
    for (size_t i = 0; i < size; i++) {
      number = number << 8 | bytes[at + (is_big_endian ? i : size - 1 - i)];
    }
    return number;
  }
};

// The orientation in the first directory of a TIFF, the format of Exif.
int OrientationInTiff(std::span<const uint8_t> bytes) {
  constexpr uint32_t kTag = 274;
  constexpr uint32_t kShort = 3;
  constexpr size_t kEntryBytes = 12;
  const std::string_view text = AsText(bytes);
  const Reader tiff{bytes, !text.starts_with("II")};
  const auto directory = tiff.Number(4, 4);
  const auto entries = directory ? tiff.Number(*directory, 2) : std::nullopt;
  if (!(text.starts_with("II") || text.starts_with("MM")) || !entries) {
    return kUpright;
  }
  for (size_t i = 0; i < *entries; i++) {
    const size_t at = size_t{*directory} + 2 + i * kEntryBytes;
    const auto value = tiff.Number(at + 8, 2);
    if (!value) {
      break;
    }
    if (tiff.Number(at, 2) == kTag && tiff.Number(at + 2, 2) == kShort) {
      return *value >= 1 && *value <= 8 ? static_cast<int>(*value) : kUpright;
    }
  }
  return kUpright;
}

// How to find a pixel of the upright picture in the original one: whether width and height swap,
// and from which sides to count.
struct Turn {
  bool swaps;
  bool from_right;
  bool from_below;
};
constexpr Turn kTurns[] = {{false, false, false}, {false, true, false}, {false, true, true},
                           {false, false, true},  {true, false, false}, {true, false, true},
                           {true, true, true},    {true, true, false}};

}  // namespace

int OrientationOf(std::span<const uint8_t> jpeg) {
  constexpr uint32_t kStart = 0xffd8;
  constexpr uint32_t kScan = 0xffda;
  constexpr uint32_t kExif = 0xffe1;
  constexpr std::string_view kMark{"Exif\0\0", 6};
  const Reader file{jpeg};
  if (file.Number(0, 2) != kStart) {
    return kUpright;
  }
  for (size_t at = 2;;) {
    const auto marker = file.Number(at, 2);
    const auto length = file.Number(at + 2, 2);
    const bool is_segment = marker >= 0xff01 && marker != kScan && length >= 2;
    if (!is_segment || *length > jpeg.size() - at - 2) {
      return kUpright;
    }
    const auto content = jpeg.subspan(at + 4, *length - 2);
    if (marker == kExif && AsText(content).starts_with(kMark)) {
      return OrientationInTiff(content.subspan(kMark.size()));
    }
    at += 2 + *length;
  }
}

Picture Upright(Picture picture, int orientation) {
  const auto [swaps, from_right, from_below] = kTurns[orientation - 1];
  if (orientation == kUpright) {
    return picture;
  }
  Picture upright{
      swaps ? picture.height : picture.width, swaps ? picture.width : picture.height, {}};
  for (const PictureFrame& frame : picture.frames) {
    Bytes rgba;
    rgba.reserve(frame.rgba.size());
    for (int y = 0; y < upright.height; y++) {
      for (int x = 0; x < upright.width; x++) {
        const int column = swaps ? y : x;
        const int row = swaps ? x : y;
        const int from_column = from_right ? picture.width - 1 - column : column;
        const int from_row = from_below ? picture.height - 1 - row : row;
        const uint8_t* pixel =
            &frame.rgba[(static_cast<size_t>(from_row) * picture.width + from_column) * kChannels];
        rgba.insert(rgba.end(), pixel, pixel + kChannels);
      }
    }
    upright.frames.push_back({std::move(rgba), frame.delay_ms});
  }
  return upright;
}

}  // namespace sprites
