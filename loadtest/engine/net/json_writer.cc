#include "net/json_writer.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace swarm {

JsonWriter& JsonWriter::Open(std::string_view key, char bracket) {
  Key(key);
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view key, std::string_view value) {
  Key(key);
  Quote(value);
  return *this;
}

JsonWriter& JsonWriter::Flag(std::string_view key, bool value) {
  Key(key);
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Real(std::string_view key, double value) {
  Key(key);
  std::array<char, 64> digits;
  const int size = std::snprintf(digits.data(), digits.size(), "%.3f", value);
  if (!std::isfinite(value) || size < 0 || size >= static_cast<int>(digits.size())) {
    text_ += "null";  // JSON has neither infinity nor NaN
    return *this;
  }
  std::string_view number(digits.data(), static_cast<size_t>(size));
  while (number.back() == '0') {
    number.remove_suffix(1);
  }
  if (number.back() == '.') {
    number.remove_suffix(1);
  }
  text_ += number;
  return *this;
}

void JsonWriter::Key(std::string_view key) {
  if (!text_.empty() && text_.back() != '{' && text_.back() != '[') {
    text_ += ',';
  }
  if (key.empty()) {
    return;
  }
  Quote(key);
  text_ += ':';
}

void JsonWriter::Quote(std::string_view text) {
  text_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escape;
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
      text_ += escape.data();
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

}  // namespace swarm
