#include "net/http_response.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "net/http_field.h"

namespace swarm {
namespace {

constexpr size_t kNoLength = SIZE_MAX;

bool ReadDecimal(std::string_view text, size_t max, size_t* value) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, *value);
  return read.ec == std::errc() && read.ptr == end && *value <= max;
}

struct Head {
  int status = 0;
  size_t size = 0;  // with the empty line
  size_t content_length = kNoLength;
  bool chunked = false;
  bool keep_alive = true;
  int retry_after_seconds = -1;
};

bool ReadField(std::string_view line, Head* head) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return false;
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = Trim(line.substr(colon + 1));
  switch (Lower(name.front())) {
    case 'c':
      if (EqualsIgnoringCase(name, "content-length")) {
        size_t length = 0;
        if (!ReadDecimal(value, kBodyBytesMax, &length)) {
          return false;
        }
        if (head->content_length != kNoLength && head->content_length != length) {
          return false;
        }
        head->content_length = length;
      } else if (EqualsIgnoringCase(name, "connection")) {
        if (ContainsIgnoringCase(value, "close")) {
          head->keep_alive = false;
        }
      }
      return true;
    case 't':
      if (EqualsIgnoringCase(name, "transfer-encoding")) {
        if (!EqualsIgnoringCase(value, "chunked")) {
          return false;
        }
        head->chunked = true;
      }
      return true;
    case 'r':
      if (EqualsIgnoringCase(name, "retry-after")) {
        size_t seconds = 0;
        if (ReadDecimal(value, 999'999'999, &seconds)) {
          head->retry_after_seconds = static_cast<int>(seconds);
        }
      }
      return true;
    default:
      return true;
  }
}

bool ReadStatusLine(std::string_view line, Head* head) {
  // At least "HTTP/1.1 202"; the reason phrase is ignored.
  if (line.size() < 12 || !line.starts_with("HTTP/1.") || line[8] != ' ') {
    return false;
  }
  if (line[7] != '0' && line[7] != '1') {
    return false;
  }
  if (line.size() > 12 && line[12] != ' ') {
    return false;
  }
  size_t status = 0;
  if (!ReadDecimal(line.substr(9, 3), 999, &status) || status < 100) {
    return false;
  }
  head->status = static_cast<int>(status);
  head->keep_alive = line[7] == '1';
  return true;
}

ParseResult ReadHead(std::string_view bytes, Head* head) {
  size_t at = 0;
  for (bool first = true;; first = false) {
    const size_t line_end = bytes.substr(0, kHeadBytesMax).find('\n', at);
    if (line_end == std::string_view::npos) {
      return bytes.size() >= kHeadBytesMax ? ParseResult::kBad : ParseResult::kNeedMore;
    }
    if (line_end == at || bytes[line_end - 1] != '\r') {
      return ParseResult::kBad;
    }
    const std::string_view line = bytes.substr(at, line_end - 1 - at);
    at = line_end + 1;
    if (first) {
      if (!ReadStatusLine(line, head)) {
        return ParseResult::kBad;
      }
    } else if (line.empty()) {
      head->size = at;
      return ParseResult::kDone;
    } else if (!ReadField(line, head)) {
      return ParseResult::kBad;
    }
  }
}

// Reads a chunk's size and skips its extension: `at` is then where its content begins.
ParseResult ReadChunkSize(std::span<const char> bytes, size_t* at, size_t* size) {
  const char* const begin = bytes.data() + *at;
  const char* const end = bytes.data() + bytes.size();
  const auto digits = static_cast<size_t>(std::from_chars(begin, end, *size, 16).ptr - begin);
  if (digits > 6) {
    return ParseResult::kBad;
  }
  *at += digits;
  if (*at == bytes.size()) {
    return ParseResult::kNeedMore;
  }
  if (digits == 0) {
    return ParseResult::kBad;
  }
  const size_t line_limit = std::min(bytes.size(), *at + kHeadBytesMax);
  while (*at < line_limit && bytes[*at] != '\n') {
    ++*at;
  }
  if (*at == bytes.size()) {
    return ParseResult::kNeedMore;
  }
  if (*at == line_limit || bytes[*at - 1] != '\r') {
    return ParseResult::kBad;
  }
  ++*at;
  return ParseResult::kDone;
}

// Skips the trailers, up to the empty line.
ParseResult SkipTrailers(std::span<const char> bytes, size_t* at) {
  for (const size_t trailers_at = *at;;) {
    const size_t line_at = *at;
    while (*at < bytes.size() && bytes[*at] != '\n') {
      ++*at;
    }
    if (*at - trailers_at > kHeadBytesMax) {
      return ParseResult::kBad;
    }
    if (*at == bytes.size()) {
      return ParseResult::kNeedMore;
    }
    if (*at == line_at || bytes[*at - 1] != '\r') {
      return ParseResult::kBad;
    }
    ++*at;
    if (*at - line_at == 2) {
      return ParseResult::kDone;
    }
  }
}

// Reads the chunks from `at` on. With `join`, moves their contents together, to the place of the
// first chunk.
ParseResult WalkChunks(std::span<char> bytes, size_t at, bool join, size_t* body_size,
                       size_t* end) {
  const size_t body_at = at;
  size_t total = 0;
  for (;;) {
    size_t size = 0;
    if (const ParseResult result = ReadChunkSize(bytes, &at, &size); result != ParseResult::kDone) {
      return result;
    }
    if (size == 0) {
      break;
    }
    if (total + size > kBodyBytesMax) {
      return ParseResult::kBad;
    }
    if (bytes.size() - at < size + 2) {
      return ParseResult::kNeedMore;
    }
    if (bytes[at + size] != '\r' || bytes[at + size + 1] != '\n') {
      return ParseResult::kBad;
    }
    if (join) {
      std::memmove(bytes.data() + body_at + total, bytes.data() + at, size);
    }
    total += size;
    at += size + 2;
  }
  *body_size = total;
  const ParseResult result = SkipTrailers(bytes, &at);
  *end = at;
  return result;
}

ParseResult ReadChunkedBody(std::span<char> bytes, size_t at, HttpResponse* response) {
  size_t size = 0;
  size_t end = 0;
  const ParseResult result = WalkChunks(bytes, at, false, &size, &end);
  if (result != ParseResult::kDone) {
    return result;
  }
  WalkChunks(bytes, at, true, &size, &end);
  response->body = {bytes.data() + at, size};
  response->consumed = end;
  return ParseResult::kDone;
}

}  // namespace

ParseResult ParseHttpResponse(std::span<char> bytes, bool at_end, HttpResponse* response) {
  Head head;
  size_t at = 0;
  for (;;) {
    head = Head();
    const ParseResult result =
        ReadHead(std::string_view(bytes.data(), bytes.size()).substr(at), &head);
    if (result != ParseResult::kDone) {
      return result;
    }
    at += head.size;
    // Interim responses (100, 103) precede the final one. 101 is bad: nothing asked for it.
    if (head.status >= 200) {
      break;
    }
    if (head.status == 101 || at > kHeadBytesMax) {
      return ParseResult::kBad;
    }
  }
  response->status = head.status;
  response->retry_after_seconds = head.retry_after_seconds;
  response->keep_alive = head.keep_alive;
  if (head.status == 204 || head.status == 304) {
    response->body = {};
    response->consumed = at;
    return ParseResult::kDone;
  }
  if (head.chunked) {
    if (head.content_length != kNoLength) {
      return ParseResult::kBad;
    }
    return ReadChunkedBody(bytes, at, response);
  }
  if (head.content_length == kNoLength) {
    if (bytes.size() - at > kBodyBytesMax) {
      return ParseResult::kBad;
    }
    if (!at_end) {
      return ParseResult::kNeedMore;
    }
    response->keep_alive = false;
    response->body = {bytes.data() + at, bytes.size() - at};
    response->consumed = bytes.size();
    return ParseResult::kDone;
  }
  if (bytes.size() - at < head.content_length) {
    return ParseResult::kNeedMore;
  }
  response->body = {bytes.data() + at, head.content_length};
  response->consumed = at + head.content_length;
  return ParseResult::kDone;
}

}  // namespace swarm
