#include "core/text/text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace sprites {

namespace {

struct Character {
  uint32_t code;
  size_t bytes;  // 0: not UTF-8
};

constexpr Character kBroken{0, 0};

// The first character. REQUIRES: `text` is not empty.
Character FirstOf(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  const size_t bytes = lead < 0x80   ? 1
                       : lead < 0xc2 ? 0
                       : lead < 0xe0 ? 2
                       : lead < 0xf0 ? 3
                       : lead < 0xf5 ? 4
                                     : 0;
  if (bytes == 0 || bytes > text.size()) {
    return kBroken;
  }
  uint32_t code = bytes == 1 ? lead : lead & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; i++) {
    if ((byte(i) & 0xc0) != 0x80) {
      return kBroken;
    }
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<uint32_t, 5> kLowest = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < kLowest[bytes] || is_surrogate || code > 0x10ffff ? kBroken
                                                                  : Character{code, bytes};
}

// Characters that break a line, are invisible, or change the reading order of the text around them.
bool IsInvisible(uint32_t code) {
  struct Range {
    uint32_t first;
    uint32_t last;
  };
  constexpr Range kInvisible[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x200b, 0x200f},
                                  {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}};
  return std::ranges::any_of(kInvisible,
                             [code](Range r) { return code >= r.first && code <= r.last; });
}

}  // namespace

bool IsPlainText(std::string_view text) {
  while (!text.empty()) {
    const Character character = FirstOf(text);
    if (character.bytes == 0 || IsInvisible(character.code)) {
      return false;
    }
    text.remove_prefix(character.bytes);
  }
  return true;
}

std::string PlainText(std::string_view text, size_t bytes_max) {
  std::string plain;
  while (!text.empty()) {
    const Character character = FirstOf(text);
    const size_t bytes = std::max<size_t>(1, character.bytes);
    if (character.bytes != 0 && !IsInvisible(character.code)) {
      if (plain.size() + bytes > bytes_max) {
        break;
      }
      plain += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return plain;
}

bool IsToken(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

std::string PercentEncoded(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    const auto byte = static_cast<uint8_t>(c);
    encoded += is_plain ? std::string(1, c) : std::string{'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return encoded;
}

}  // namespace sprites
