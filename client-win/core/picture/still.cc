#include "core/picture/still.h"

#include <string>
#include <string_view>

#include "core/picture/png.h"
#include "core/picture/stb.h"

namespace sprites {

namespace {

constexpr size_t kPngSlackBytes = 65'536;  // after the pixels: some programs write a little more

[[noreturn]] void RefuseDamaged() { throw PictureRefused(Text::kPictureDamaged); }

// The header of a PNG, and the content of all its IDAT chunks. Less strict than ReadPng, to show
// what other programs show. Throws PictureRefused when a chunk is longer than the file.
struct PackedPng {
  Png header;
  std::string packed;
};

PackedPng ReadPackedPng(std::span<const uint8_t> file) {
  constexpr size_t kHeadBytes = 8;  // length and type
  constexpr size_t kFrameBytes = 12;
  constexpr size_t kHeaderBytes = 13;
  PackedPng png;
  for (size_t at = kPngSignature.size();;) {
    const size_t left = file.size() - at;
    const size_t length = left < kFrameBytes ? left : BigEndian(file, at);
    if (left < kFrameBytes || length > left - kFrameBytes) {
      throw PictureRefused(Text::kPictureCutOff);
    }
    const std::string_view type = AsText(file.subspan(at + 4, 4));
    const auto content = file.subspan(at + kHeadBytes, length);
    const bool is_first = at == kPngSignature.size();
    if (is_first && (type != "IHDR" || length != kHeaderBytes)) {
      RefuseDamaged();
    }
    if (is_first) {
      png.header.width = BigEndian(content, 0);
      png.header.height = BigEndian(content, 4);
      png.header.bit_depth = content[8];
      png.header.colour_type = content[9];
      png.header.is_interlaced = content[12] != 0;
    } else if (type == "IDAT") {
      png.packed += AsText(content);
    } else if (type == "IEND") {
      return png;  // bytes after it are ignored
    }
    at += kFrameBytes + length;
  }
}

// Checks a PNG before stb decodes it, because stb inflates without a limit.
void CheckPng(std::span<const uint8_t> bytes, size_t pixels_max) {
  const PackedPng png = ReadPackedPng(bytes);
  const Png& header = png.header;
  if (!IsColourType(header.colour_type, header.bit_depth)) {
    RefuseDamaged();
  }
  CheckPictureSize(header.width, header.height, 1, pixels_max);
  const size_t raw = RawBytes(header);
  if (raw > (1 + kChannels) * pixels_max) {
    throw PictureRefused(Text::kPictureTooLargeUnpacked, {std::to_string(raw >> 20)});
  }
  const auto inflated = std::make_unique_for_overwrite<char[]>(raw + kPngSlackBytes);
  if (stbi_zlib_decode_buffer(inflated.get(), static_cast<int>(raw + kPngSlackBytes),
                              png.packed.data(), static_cast<int>(png.packed.size())) < 0) {
    RefuseDamaged();
  }
}

}  // namespace

Picture DecodeStill(std::span<const uint8_t> bytes, size_t pixels_max) {
  const std::string_view text = AsText(bytes);
  if (text.starts_with(kPngSignature)) {
    CheckPng(bytes, pixels_max);
  } else if (!text.starts_with("BM")) {
    throw PictureUnknown(Text::kPictureKind);
  }
  const auto size = static_cast<int>(bytes.size());
  int width = 0;
  int height = 0;
  int channels = 0;
  if (stbi_info_from_memory(bytes.data(), size, &width, &height, &channels) == 0) {
    RefuseDamaged();
  }
  CheckPictureSize(width, height, 1, pixels_max);
  const StbOwned<stbi_uc> pixels(
      stbi_load_from_memory(bytes.data(), size, &width, &height, &channels, kChannels));
  if (pixels == nullptr) {
    RefuseDamaged();
  }
  const size_t length = static_cast<size_t>(width) * height * kChannels;
  return {width, height, {{Bytes(pixels.get(), pixels.get() + length), 0}}};
}

}  // namespace sprites
