#include "core/picture/sheet.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/motion/behaviour.h"
#include "core/picture/description.h"
#include "core/picture/png.h"
#include "core/picture/stb.h"

namespace sprites {

namespace {

// The chunks that a picture needs, and small uncompressed ones that describe its colours.
constexpr std::string_view kChunksAllowed[] = {"IHDR", "PLTE", "tRNS", "IDAT", "IEND",
                                               "iTXt", "gAMA", "cHRM", "sRGB", "sBIT",
                                               "bKGD", "pHYs", "tIME"};
constexpr std::string_view kKeyword = "sprite";
constexpr int kParcelSide = 32;  // pixels

// iTXt: keyword 0, compression flag, compression method, language 0, translated keyword 0, text.
std::string_view TextOf(const Chunk& chunk) {
  const std::string_view content = AsText(chunk.content);
  const size_t keyword_end = content.find('\0');
  if (keyword_end == std::string_view::npos || content.substr(0, keyword_end) != kKeyword) {
    throw SprRefused("iTXt", Text::kSheetTextKeyword);
  }
  if (content.size() < keyword_end + 3 || content[keyword_end + 1] != 0) {
    throw SprRefused("iTXt", Text::kSheetTextPacked);
  }
  const size_t language_end = content.find('\0', keyword_end + 3);
  const size_t translated_end =
      language_end == std::string_view::npos ? language_end : content.find('\0', language_end + 1);
  if (translated_end == std::string_view::npos) {
    throw SprRefused("iTXt", Text::kSheetTextCutOff);
  }
  return content.substr(translated_end + 1);
}

Png ReadContainer(std::span<const uint8_t> bytes) {
  if (bytes.size() > kSprBytesMax) {
    throw SprRefused("file", Text::kSheetTooLarge,
                     {std::to_string(bytes.size()), std::to_string(kSprBytesMax)});
  }
  Png png = ReadPng(bytes);
  for (const Chunk& chunk : png.chunks) {
    if (std::ranges::find(kChunksAllowed, chunk.type) == std::end(kChunksAllowed)) {
      const std::string type(chunk.type);
      throw SprRefused(type, Text::kSheetChunkForeign, {type});
    }
  }
  return png;
}

Description DescriptionIn(const Png& png) {
  const auto is_text = [](const Chunk& chunk) { return chunk.type == "iTXt"; };
  if (std::ranges::count_if(png.chunks, is_text) != 1) {
    throw SprRefused("iTXt", Text::kSheetTextOnce);
  }
  const Chunk& text = *std::ranges::find_if(png.chunks, is_text);
  return ParseDescription(TextOf(text), static_cast<int>(png.width), static_cast<int>(png.height));
}

// The checksum of what a zlib stream packs (RFC 1950).
uint32_t Adler32(std::string_view raw) {
  constexpr uint32_t kBase = 65'521;
  constexpr size_t kBytesBetween = 5'552;  // as many as do not overflow 32 bits
  uint32_t sum = 1;
  uint32_t sums = 0;
  while (!raw.empty()) {
    const std::string_view some = raw.substr(0, kBytesBetween);
    for (const char byte : some) {
      sum += static_cast<uint8_t>(byte);
      sums += sum;
    }
    sum %= kBase;
    sums %= kBase;
    raw.remove_prefix(some.size());
  }
  return sums << 16 | sum;
}

// Inflates into exactly the bytes that the header promises. A file that claims a small picture and
// packs a large one is rejected here, before the decoder, which would allocate whatever it
// inflates. Returns whether the stream ends with its checksum, which no decoder of stb reads.
bool CheckInflatedSize(const Png& png) {
  const size_t expected = RawBytes(png);
  if (expected > kRawBytesMax) {
    throw SprRefused("IHDR", Text::kSheetPixelsTooLarge,
                     {std::to_string(expected), std::to_string(kRawBytesMax)});
  }
  std::string packed;
  for (const Chunk& chunk : png.chunks) {
    if (chunk.type == "IDAT") {
      packed += AsText(chunk.content);
    }
  }
  const auto raw = std::make_unique_for_overwrite<char[]>(expected);
  const int inflated = stbi_zlib_decode_buffer(raw.get(), static_cast<int>(expected), packed.data(),
                                               static_cast<int>(packed.size()));
  if (inflated < 0 || static_cast<size_t>(inflated) != expected) {
    throw SprRefused("IDAT", Text::kSheetPixelsLength, {std::to_string(expected)});
  }
  return packed.size() >= sizeof(uint32_t) &&
         BigEndian(AsBytes(packed), packed.size() - sizeof(uint32_t)) ==
             Adler32({raw.get(), expected});
}

Bytes DecodePixels(std::span<const uint8_t> bytes, const Png& png) {
  const bool has_checksum = CheckInflatedSize(png);
  int width = 0;
  int height = 0;
  int channels = 0;
  const StbOwned<stbi_uc> pixels(stbi_load_from_memory(bytes.data(), static_cast<int>(bytes.size()),
                                                       &width, &height, &channels, kChannels));
  if (pixels == nullptr || static_cast<uint32_t>(width) != png.width ||
      static_cast<uint32_t>(height) != png.height) {
    throw SprRefused("IDAT", Text::kSheetPixelsWrong);
  }
  // Last, so that a fuzzer, which seldom hits a checksum, reaches the decoder.
  if (!has_checksum) {
    throw SprRefused("IDAT", Text::kSheetPixelsPacked);
  }
  return Bytes(pixels.get(), pixels.get() + size_t{png.width} * png.height * kChannels);
}

}  // namespace

SheetPointer ReadSheet(std::span<const uint8_t> bytes) {
  const Png png = ReadContainer(bytes);
  auto sheet = std::make_shared<Sheet>();
  sheet->description = DescriptionIn(png);
  sheet->rgba = DecodePixels(bytes, png);
  sheet->width = static_cast<int>(png.width);
  sheet->height = static_cast<int>(png.height);
  sheet->file = Sha256Hex(bytes);
  return sheet;
}

Description ReadDescription(std::span<const uint8_t> bytes) {
  return DescriptionIn(ReadContainer(bytes));
}

bool LooksLikeSpr(std::span<const uint8_t> bytes) {
  constexpr std::string_view kMark{"iTXtsprite\0", 11};
  const std::string_view text = AsText(bytes.first(std::min(bytes.size(), kSprBytesMax)));
  return text.starts_with(kPngSignature) && text.find(kMark) != std::string_view::npos;
}

SheetPointer Parcel() {
  static const SheetPointer parcel = [] {
    auto sheet = std::make_shared<Sheet>();
    sheet->width = sheet->height = kParcelSide;
    sheet->description.name = "Parcel";
    sheet->description.frame_width = sheet->description.frame_height = kParcelSide;
    sheet->description.hitbox = {4, 8, 24, 24};
    sheet->description.animations["idle"] = {{0}, 1};
    sheet->rgba.assign(size_t{kParcelSide} * kParcelSide * kChannels, 0);
    for (int y = 8; y < kParcelSide; y++) {
      for (int x = 4; x < kParcelSide - 4; x++) {
        const bool is_rim = x == 4 || x == 27 || y == 8 || y == 31;
        const bool is_tape = (x >= 14 && x < 18) || (y >= 18 && y < 21);
        const uint8_t shade = static_cast<uint8_t>(is_rim ? 96 : is_tape ? 232 : 196 - (y - 8));
        uint8_t* pixel = &sheet->rgba[(size_t{kParcelSide} * y + x) * kChannels];
        pixel[0] = shade;
        pixel[1] = static_cast<uint8_t>(shade * 3 / 4);
        pixel[2] = static_cast<uint8_t>(shade / 2);
        pixel[3] = 255;
      }
    }
    return sheet;
  }();
  return parcel;
}

double ShownScale(const Description& description, double scale) {
  const double side = std::max(description.frame_width, description.frame_height);
  return std::max(kShownSideMin / side, std::min(scale, kShownSideMax / side));
}

Nature NatureOf(const Description& description, double scale) {
  const double shown = ShownScale(description, scale);
  const Behaviour& behaviour = description.behaviour;
  return {description.hitbox[2] * shown,
          description.hitbox[3] * shown,
          behaviour.walk_speed,
          behaviour.jump_speed,
          behaviour.gravity,
          behaviour.bounce,
          behaviour.hop_chance};
}

const Animation& PlayedFor(const Description& description, std::string_view wanted) {
  for (;;) {
    const auto found = description.animations.find(wanted);
    if (found != description.animations.end()) {
      return found->second;
    }
    const AnimationRules* rules = AnimationRulesOf(wanted);
    wanted = rules == nullptr ? "idle" : rules->instead;
  }
}

int CellOf(const Description& description, std::string_view animation, double elapsed_ms) {
  const Animation& played = PlayedFor(description, animation);
  const AnimationRules* rules = AnimationRulesOf(animation);
  const double frames = static_cast<double>(played.frames.size());
  const double count = std::max(0.0, std::floor(elapsed_ms * played.fps / 1000));
  const bool plays_once = rules != nullptr && rules->plays_once;
  const double turned = plays_once ? std::min(count, frames - 1) : std::fmod(count, frames);
  return played.frames[static_cast<size_t>(turned)];
}

int CellOf(const Description& description, Mode mode, double elapsed_ms) {
  return CellOf(description, RulesOf(mode).animation, elapsed_ms);
}

}  // namespace sprites
