#include "net/json_reader.h"

#include <charconv>
#include <cstring>

namespace swarm {

bool JsonReader::NextMember(std::string_view* key) {
  return Next('}') && String(key) && Expect(':');
}

bool JsonReader::String(std::string_view* value) {
  if (!Expect('"')) {
    return false;
  }
  const char* const begin = at_;
  for (;;) {
    const auto* quote =
        static_cast<const char*>(std::memchr(at_, '"', static_cast<size_t>(end_ - at_)));
    if (quote == nullptr) {
      return Fail();
    }
    // The quote ends the string unless an odd number of backslashes precedes it.
    const char* before = quote;
    while (before > begin && before[-1] == '\\') {
      --before;
    }
    at_ = quote + 1;
    if ((quote - before) % 2 == 0) {
      *value = {begin, static_cast<size_t>(quote - begin)};
      return true;
    }
  }
}

bool JsonReader::Unsigned(uint64_t* value) {
  SkipSpace();
  uint64_t result = 0;
  int digits = 0;
  while (at_ < end_ && *at_ >= '0' && *at_ <= '9') {
    if (++digits > 18) {
      return Fail();
    }
    result = result * 10 + static_cast<uint64_t>(*at_++ - '0');
  }
  if (digits == 0) {
    return Fail();
  }
  *value = result;
  return true;
}

bool JsonReader::Number(double* value) {
  SkipSpace();
  const auto read = std::from_chars(at_, end_, *value);
  if (read.ec != std::errc()) {
    return Fail();
  }
  at_ = read.ptr;
  return true;
}

bool JsonReader::ObjectWith(std::string_view name, std::string_view* value) {
  bool is_found = false;
  std::string_view key;
  EnterObject();
  while (NextMember(&key)) {
    if (key == name) {
      is_found = String(value);
    } else {
      Skip();
    }
  }
  return is_found;
}

bool JsonReader::Skip() {
  std::string_view ignored;
  uint64_t depth = 0;
  do {
    SkipSpace();
    if (at_ == end_) {
      return Fail();
    }
    switch (*at_) {
      case '"':
        if (!String(&ignored)) {
          return false;
        }
        break;
      case '{':
      case '[':
        ++depth;
        ++at_;
        break;
      case '}':
      case ']':
        if (depth == 0) {
          return Fail();
        }
        --depth;
        ++at_;
        break;
      case ',':
      case ':':
        if (depth == 0) {
          return Fail();
        }
        ++at_;
        break;
      default:
        while (at_ < end_ && std::strchr(",:{}[]\" \t\r\n", *at_) == nullptr) {
          ++at_;
        }
        // strchr also finds a NUL byte, which JSON cannot have outside strings.
        if (at_ < end_ && *at_ == '\0') {
          return Fail();
        }
    }
  } while (depth > 0);
  return true;
}

char JsonReader::Peek() {
  SkipSpace();
  return at_ == end_ ? '\0' : *at_;
}

bool JsonReader::Enter(char bracket) {
  if (!Expect(bracket)) {
    return false;
  }
  fresh_ = true;
  return true;
}

bool JsonReader::Next(char closing) {
  SkipSpace();
  if (at_ == end_) {
    return Fail();
  }
  const bool first = fresh_;
  fresh_ = false;
  if (*at_ == closing) {
    ++at_;
    return false;
  }
  return first || Expect(',');
}

bool JsonReader::Expect(char wanted) {
  SkipSpace();
  if (at_ == end_ || *at_ != wanted) {
    return Fail();
  }
  ++at_;
  return true;
}

bool JsonReader::Fail() {
  ok_ = false;
  at_ = end_;
  return false;
}

void JsonReader::SkipSpace() {
  while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) {
    ++at_;
  }
}

}  // namespace swarm
