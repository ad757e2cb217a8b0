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

struct Range {
  uint32_t first;
  uint32_t last;
};

template <size_t count>
bool IsIn(const Range (&ranges)[count], uint32_t code) {
  return std::ranges::any_of(ranges, [code](Range r) { return code >= r.first && code <= r.last; });
}

// Hidden characters: those that break a line, change the reading order of the text around them, or
// show nothing. server/wire/hidden.ts says which properties of Unicode they follow from;
// hidden.vectors.json beside it lists them, and both sides are tested against that.
constexpr Range kHidden[] = {
    {0x0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
    {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},
    {0x890, 0x891},     {0x8e2, 0x8e2},     {0x115f, 0x1160},   {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
    {0x2800, 0x2800},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
    {0xffa0, 0xffa0},   {0xfff0, 0xfffc},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
    {0x13430, 0x1343f}, {0x13441, 0x13442}, {0x16fe4, 0x16fe4}, {0x1bca0, 0x1bca3},
    {0x1d159, 0x1d159}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

// Marks that stand on any character: those of general use, and enclosing ones. A text of these
// alone has nothing that they stand on, so it would show over what is beside it.
constexpr Range kMarks[] = {
    {0x300, 0x36f},     {0x485, 0x486},     {0x488, 0x489},     {0x64b, 0x655},
    {0x670, 0x670},     {0x951, 0x954},     {0x1ab0, 0x1add},   {0x1ae0, 0x1aeb},
    {0x1cd0, 0x1cd2},   {0x1cd4, 0x1ce0},   {0x1ce2, 0x1ce8},   {0x1ced, 0x1ced},
    {0x1cf4, 0x1cf4},   {0x1cf8, 0x1cf9},   {0x1dc0, 0x1dff},   {0x20d0, 0x20f0},
    {0x302a, 0x302d},   {0x3099, 0x309a},   {0xa670, 0xa672},   {0xfe20, 0xfe2d},
    {0x101fd, 0x101fd}, {0x102e0, 0x102e0}, {0x1133b, 0x1133b}, {0x1cf00, 0x1cf2d},
    {0x1cf30, 0x1cf46}, {0x1d167, 0x1d169}, {0x1d17b, 0x1d182}, {0x1d185, 0x1d18b},
    {0x1d1aa, 0x1d1ad}};

constexpr Range kSpaces[] = {{0x20, 0x20},     {0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
                             {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};

// Symbols that U+FE0F turns into an emoji. The ranges have other symbols too, which it leaves
// alone.
constexpr Range kPictographs[] = {
    {0xa9, 0xa9},     {0xae, 0xae},      {0x203c, 0x203c}, {0x2049, 0x2049}, {0x2122, 0x2122},
    {0x2139, 0x2139}, {0x2194, 0x21aa},  {0x231a, 0x23ff}, {0x24c2, 0x24c2}, {0x25aa, 0x27bf},
    {0x2934, 0x2935}, {0x2b05, 0x2b55},  {0x3030, 0x3030}, {0x303d, 0x303d}, {0x3297, 0x3297},
    {0x3299, 0x3299}, {0x1f000, 0x1faff}};

// Blocks of scripts that are written from right to left.
constexpr Range kRightToLeft[] = {
    {0x590, 0x8ff}, {0xfb1d, 0xfdff}, {0xfe70, 0xfefe}, {0x10800, 0x10fff}, {0x1e800, 0x1efff}};

// Characters without a direction: digits, signs, spaces, symbols, emoji.
constexpr Range kUndirected[] = {
    {0x0, 0x40},      {0x5b, 0x60},     {0x7b, 0xa9},     {0xab, 0xb4},
    {0xb6, 0xb9},     {0xbb, 0xbf},     {0xd7, 0xd7},     {0xf7, 0xf7},
    {0x2000, 0x2070}, {0x2074, 0x207e}, {0x2080, 0x208e}, {0x20a0, 0x20ff},
    {0x2190, 0x2bff}, {0x3000, 0x3004}, {0x3008, 0x3020}, {0x1f000, 0x1faff}};

constexpr uint32_t kEmojiStyle = 0xfe0f;
constexpr std::string_view kKeycap = "\u20e3";

// Whether U+FE0F shows between the character `previous` and `rest`: it turns a symbol into an
// emoji, or is a part of a keycap.
bool IsEmojiStyle(uint32_t previous, std::string_view rest) {
  const bool is_key = previous == '#' || previous == '*' || (previous >= '0' && previous <= '9');
  return is_key ? rest.starts_with(kKeycap) : IsIn(kPictographs, previous);
}

// Whether `code` is hidden between `previous` (0: none) and `rest`.
bool IsHidden(uint32_t code, uint32_t previous, std::string_view rest) {
  return IsIn(kHidden, code) && !(code == kEmojiStyle && IsEmojiStyle(previous, rest));
}

// Whether well-formed `text` has marks, and nothing else but spaces.
bool HasOnlyMarks(std::string_view text) {
  bool has_mark = false;
  while (!text.empty()) {
    const Character character = FirstOf(text);
    const bool is_mark = IsIn(kMarks, character.code);
    if (!is_mark && !IsIn(kSpaces, character.code)) {
      return false;
    }
    has_mark = has_mark || is_mark;
    text.remove_prefix(std::max<size_t>(1, character.bytes));
  }
  return has_mark;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = FirstOf(text).bytes;
    if (bytes == 0) {
      return false;
    }
    text.remove_prefix(bytes);
  }
  return true;
}

bool IsPlainText(std::string_view text) {
  if (HasOnlyMarks(text)) {
    return false;
  }
  uint32_t previous = 0;
  while (!text.empty()) {
    const Character character = FirstOf(text);
    if (character.bytes == 0 || IsHidden(character.code, previous, text.substr(character.bytes))) {
      return false;
    }
    previous = character.code;
    text.remove_prefix(character.bytes);
  }
  return true;
}

std::string PlainText(std::string_view text, size_t bytes_max) {
  std::string plain;
  uint32_t previous = 0;
  while (!text.empty()) {
    const Character character = FirstOf(text);
    const size_t bytes = std::max<size_t>(1, character.bytes);
    if (character.bytes != 0 && !IsHidden(character.code, previous, text.substr(bytes))) {
      if (plain.size() + bytes > bytes_max) {
        break;
      }
      plain += text.substr(0, bytes);
      previous = character.code;
    }
    text.remove_prefix(bytes);
  }
  return HasOnlyMarks(plain) ? std::string() : plain;
}

bool ReadsRightToLeft(std::string_view text) {
  while (!text.empty()) {
    const Character character = FirstOf(text);
    if (character.bytes != 0 && !IsIn(kUndirected, character.code)) {
      return IsIn(kRightToLeft, character.code);
    }
    text.remove_prefix(std::max<size_t>(1, character.bytes));
  }
  return false;
}

size_t BytesOfLetters(std::string_view text, size_t letters) {
  for (size_t i = 0; i < text.size(); i++) {
    if (IsFirstByte(text[i]) && letters-- == 0) {
      return i;
    }
  }
  return text.size();
}

std::string Shortened(std::string_view text, size_t letters) {
  const size_t bytes = BytesOfLetters(text, letters);
  return std::string(text.substr(0, bytes)) + (bytes < text.size() ? "…" : "");
}

bool IsToken(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

std::string LowerCase(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lowered;
}

std::string Utf8Of(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
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
