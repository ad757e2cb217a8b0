#include "core/picture/png.h"

#include <algorithm>
#include <array>

namespace sprites {

namespace {

constexpr size_t kChunkFrameBytes = 12;  // length, type and CRC around every chunk's content
constexpr size_t kHeaderBytes = 13;
constexpr size_t kPaletteColoursMax = 256;
constexpr int kPaletteColourType = 3;

// A colour type, its samples a pixel and its allowed bit depths (PNG, third edition, table 8).
struct ColourType {
  int type;
  int samples;
  std::string_view depths;  // as characters
};
constexpr ColourType kColourTypes[] = {{0, 1, "\1\2\4\10\20"},
                                       {2, 3, "\10\20"},
                                       {3, 1, "\1\2\4\10"},
                                       {4, 2, "\10\20"},
                                       {6, 4, "\10\20"}};

struct Pass {
  uint32_t x;
  uint32_t y;
  uint32_t step_x;
  uint32_t step_y;
};
constexpr Pass kWhole[] = {{0, 0, 1, 1}};
constexpr Pass kAdam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                           {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

const ColourType* ColourTypeOf(int type) {
  const auto found = std::ranges::find(kColourTypes, type, &ColourType::type);
  return found == std::end(kColourTypes) ? nullptr : found;
}

void PutBigEndian(Bytes* bytes, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes->push_back(static_cast<uint8_t>(value >> shift));
  }
}

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t n = 0; n < 256; n++) {
    uint32_t crc = n;
    for (int bit = 0; bit < 8; bit++) {
      crc = (crc & 1) != 0 ? 0xedb88320 ^ (crc >> 1) : crc >> 1;
    }
    table[n] = crc;
  }
  return table;
}
constexpr auto kCrcTable = MakeCrcTable();

bool IsLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

Chunk ReadChunk(std::span<const uint8_t> bytes, size_t offset) {
  const size_t left = bytes.size() - offset;
  if (left < kChunkFrameBytes) {
    throw SprRefused("file", Text::kSheetCutOff, {std::to_string(offset)});
  }
  const uint32_t length = BigEndian(bytes, offset);
  const std::string_view type = AsText(bytes.subspan(offset + 4, 4));
  if (!std::ranges::all_of(type, IsLetter)) {
    throw SprRefused("file", Text::kSheetChunkType, {std::to_string(offset + 4)});
  }
  const std::string name(type);
  if (length > left - kChunkFrameBytes) {
    throw SprRefused(name, Text::kSheetChunkLength, {name, std::to_string(length)});
  }
  const uint32_t expected = BigEndian(bytes, offset + 8 + length);
  if (Crc32(bytes.subspan(offset + 4, 4 + size_t{length})) != expected) {
    throw SprRefused(name, Text::kSheetChunkCrc, {name, std::to_string(offset)});
  }
  return {type, bytes.subspan(offset + 8, length)};
}

void ReadHeader(const Chunk& chunk, Png* png) {
  if (chunk.type != "IHDR") {
    const std::string type(chunk.type);
    throw SprRefused(type, Text::kSheetFirstChunk, {type});
  }
  if (chunk.content.size() != kHeaderBytes) {
    throw SprRefused("IHDR", Text::kSheetHeaderLength);
  }
  png->width = BigEndian(chunk.content, 0);
  png->height = BigEndian(chunk.content, 4);
  png->bit_depth = chunk.content[8];
  png->colour_type = chunk.content[9];
  png->is_interlaced = chunk.content[12] == 1;
  if (png->width < 1 || png->height < 1 || png->width > kSheetSidePixelsMax ||
      png->height > kSheetSidePixelsMax) {
    throw SprRefused("IHDR", Text::kSheetSize,
                     {std::to_string(png->width), std::to_string(png->height),
                      std::to_string(kSheetSidePixelsMax)});
  }
  if (!IsColourType(png->colour_type, png->bit_depth)) {
    throw SprRefused("IHDR", Text::kSheetColourType,
                     {std::to_string(png->colour_type), std::to_string(png->bit_depth)});
  }
  if (chunk.content[10] != 0 || chunk.content[11] != 0 || chunk.content[12] > 1) {
    throw SprRefused("IHDR", Text::kSheetHeaderMethod);
  }
}

bool Has(const Png& png, std::string_view type) {
  return std::ranges::find(png.chunks, type, &Chunk::type) != png.chunks.end();
}

// Whether a tRNS of so many bytes fits the colour type. stb refuses the picture otherwise.
bool IsTransparency(size_t bytes, const Png& before) {
  if (before.colour_type == kPaletteColourType) {
    const auto palette = std::ranges::find(before.chunks, std::string_view("PLTE"), &Chunk::type);
    return palette != before.chunks.end() && bytes <= palette->content.size() / 3;
  }
  return (before.colour_type == 0 && bytes == 2) || (before.colour_type == 2 && bytes == 6);
}

void CheckOrder(const Chunk& chunk, const Png& before) {
  if (chunk.type == "IHDR" && !before.chunks.empty()) {
    throw SprRefused("IHDR", Text::kSheetHeaderTwice);
  }
  if (chunk.type == "PLTE") {
    if (Has(before, "PLTE") || Has(before, "IDAT")) {
      throw SprRefused("PLTE", Text::kSheetPaletteOrder);
    }
    const size_t size = chunk.content.size();
    if (size == 0 || size % 3 != 0 || size > 3 * kPaletteColoursMax) {
      throw SprRefused("PLTE", Text::kSheetPaletteSize);
    }
  }
  if (chunk.type == "IDAT") {
    if (Has(before, "IDAT") && before.chunks.back().type != "IDAT") {
      throw SprRefused("IDAT", Text::kSheetPixelsApart);
    }
    if (before.colour_type == kPaletteColourType && !Has(before, "PLTE")) {
      throw SprRefused("PLTE", Text::kSheetPaletteMissing);
    }
  }
  if (chunk.type == "IEND" && !chunk.content.empty()) {
    throw SprRefused("IEND", Text::kSheetEndNotEmpty);
  }
  if (chunk.type == "tRNS") {
    if (Has(before, "tRNS") || Has(before, "IDAT")) {
      throw SprRefused("tRNS", Text::kSheetAlphaOrder);
    }
    if (!IsTransparency(chunk.content.size(), before)) {
      throw SprRefused("tRNS", Text::kSheetAlphaSize);
    }
  }
}

}  // namespace

Png ReadPng(std::span<const uint8_t> bytes) {
  if (!AsText(bytes).starts_with(kPngSignature)) {
    throw SprRefused("file", Text::kSheetNoPng);
  }
  Png png;
  size_t offset = kPngSignature.size();
  while (offset < bytes.size()) {
    const Chunk chunk = ReadChunk(bytes, offset);
    offset += kChunkFrameBytes + chunk.content.size();
    if (png.chunks.size() == kChunksMax) {
      throw SprRefused("file", Text::kSheetChunks, {std::to_string(kChunksMax)});
    }
    if (png.chunks.empty()) {
      ReadHeader(chunk, &png);  // rejects impossible sizes before any other chunk is read
    }
    CheckOrder(chunk, png);
    png.chunks.push_back(chunk);
    if (chunk.type == "IEND") {
      break;
    }
  }
  if (png.chunks.empty() || png.chunks.back().type != "IEND") {
    throw SprRefused("file", Text::kSheetEndMissing);
  }
  if (offset != bytes.size()) {
    throw SprRefused("IEND", Text::kSheetEndPassed);
  }
  if (!Has(png, "IDAT")) {
    throw SprRefused("IDAT", Text::kSheetPixelsMissing);
  }
  return png;
}

bool IsColourType(int type, int bit_depth) {
  const ColourType* found = ColourTypeOf(type);
  const char depth = static_cast<char>(bit_depth);
  return found != nullptr && found->depths.find(depth) != std::string_view::npos;
}

size_t RawBytes(const Png& png) {
  const size_t bits = static_cast<size_t>(ColourTypeOf(png.colour_type)->samples) * png.bit_depth;
  const std::span<const Pass> passes =
      png.is_interlaced ? std::span<const Pass>(kAdam7) : std::span<const Pass>(kWhole);
  size_t total = 0;
  for (const Pass& pass : passes) {
    if (png.width <= pass.x || png.height <= pass.y) {
      continue;
    }
    const size_t columns = (png.width - pass.x + pass.step_x - 1) / pass.step_x;
    const size_t rows = (png.height - pass.y + pass.step_y - 1) / pass.step_y;
    total += rows * (1 + (columns * bits + 7) / 8);
  }
  return total;
}

Bytes WritePng(std::span<const Chunk> chunks) {
  Bytes bytes(kPngSignature.begin(), kPngSignature.end());
  for (const Chunk& chunk : chunks) {
    PutBigEndian(&bytes, static_cast<uint32_t>(chunk.content.size()));
    const size_t start = bytes.size();
    bytes.insert(bytes.end(), chunk.type.begin(), chunk.type.end());
    bytes.insert(bytes.end(), chunk.content.begin(), chunk.content.end());
    PutBigEndian(&bytes, Crc32(std::span<const uint8_t>(bytes).subspan(start)));
  }
  return bytes;
}

uint32_t Crc32(std::span<const uint8_t> bytes) {
  uint32_t crc = 0xffffffff;
  for (const uint8_t byte : bytes) {
    crc = (crc >> 8) ^ kCrcTable[(crc ^ byte) & 0xff];
  }
  return ~crc;
}

}  // namespace sprites
