// Reads the PNG container, its signature and its chunks, without copying.
//
// Every length is checked before it is used, and no memory is allocated for what a chunk claims.
// Invariant: an accepted file has IHDR first, one unbroken run of IDAT, IEND last with nothing
// after it, and a correct CRC in every chunk. Cost: O(bytes), one small record a chunk.
#ifndef CLIENT_WIN_CORE_PICTURE_PNG_H_
#define CLIENT_WIN_CORE_PICTURE_PNG_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/picture/sheet.h"

namespace sprites {

struct Chunk {
  std::string_view type;             // four letters; a view of the file's bytes
  std::span<const uint8_t> content;  // likewise
};

struct Png {
  uint32_t width = 0;  // pixels
  uint32_t height = 0;
  int bit_depth = 0;
  int colour_type = 0;
  bool is_interlaced = false;
  std::vector<Chunk> chunks;
};

constexpr std::string_view kPngSignature{"\x89PNG\r\n\x1a\n", 8};

// The header and all chunks, in order; views of `bytes`. Throws SprRefused, naming the chunk.
Png ReadPng(std::span<const uint8_t> bytes);

// Whether PNG has this colour type with this bit depth.
bool IsColourType(int type, int bit_depth);

// How many bytes the IDAT chunks inflate to: every row of every pass with its filter byte.
// REQUIRES: IsColourType.
size_t RawBytes(const Png& png);

// A PNG of these chunks, in this order.
Bytes WritePng(std::span<const Chunk> chunks);

// CRC-32 as PNG uses it (ISO 3309).
uint32_t Crc32(std::span<const uint8_t> bytes);

// The number in the four bytes from `at` on. REQUIRES: they are there.
inline uint32_t BigEndian(std::span<const uint8_t> bytes, size_t at) {
  return uint32_t{bytes[at]} << 24 | uint32_t{bytes[at + 1]} << 16 | uint32_t{bytes[at + 2]} << 8 |
         bytes[at + 3];
}

// Views of bytes as text, and of text as bytes.
inline std::string_view AsText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_PNG_H_
