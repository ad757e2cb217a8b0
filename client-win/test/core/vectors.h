// Reads the files of vectors, which all desktops play.
#ifndef CLIENT_WIN_TEST_CORE_VECTORS_H_
#define CLIENT_WIN_TEST_CORE_VECTORS_H_

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/json.h"

namespace sprites {

inline Json ReadVectors(const char* path) {
  std::ifstream file(path);
  return Json::parse(file);
}

inline std::vector<uint8_t> FromBase64(const std::string& text) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<uint8_t> bytes;
  uint32_t bits = 0;
  for (size_t i = 0; i < text.size() && text[i] != '='; i++) {
    bits = bits << 6 | static_cast<uint32_t>(kLetters.find(text[i]));
    if (i % 4 != 0) {
      bytes.push_back(static_cast<uint8_t>(bits >> (6 - 2 * (i % 4))));
    }
  }
  return bytes;
}

}  // namespace sprites

#endif  // CLIENT_WIN_TEST_CORE_VECTORS_H_
