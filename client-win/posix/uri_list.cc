#include "posix/uri_list.h"

#include <algorithm>
#include <optional>

#include "posix/files.h"

namespace sprites {

namespace {

std::optional<int> DigitOf(char letter) {
  if (letter >= '0' && letter <= '9') {
    return letter - '0';
  }
  const char small = static_cast<char>(letter | 0x20);
  return small >= 'a' && small <= 'f' ? std::optional(small - 'a' + 10) : std::nullopt;
}

// The text with each %XX as its byte. Nothing when one is cut off, is no number, or is zero.
std::optional<std::string> Decoded(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    const auto high = i + 2 < text.size() ? DigitOf(text[i + 1]) : std::nullopt;
    const auto low = high ? DigitOf(text[i + 2]) : std::nullopt;
    if (!low || (*high == 0 && *low == 0)) {
      return std::nullopt;
    }
    bytes += static_cast<char>(*high << 4 | *low);
    i += 2;
  }
  return bytes;
}

// The path of a file: URI: `file:///path`, `file://host/path` or `file:/path`.
std::optional<std::string> PathOf(std::string_view uri, std::string_view host) {
  constexpr std::string_view kScheme = "file:";
  constexpr std::string_view kLocal = "localhost";
  if (!uri.starts_with(kScheme)) {
    return std::nullopt;
  }
  uri.remove_prefix(kScheme.size());
  if (uri.starts_with("//")) {
    uri.remove_prefix(2);
    const std::string_view owner = uri.substr(0, uri.find('/'));
    if (!owner.empty() && owner != kLocal && owner != host) {
      return std::nullopt;
    }
    uri.remove_prefix(owner.size());
  }
  auto path = Decoded(uri);
  const bool is_path = path && path->starts_with('/') && path->size() <= kPathBytesMax &&
                       path->find('\0') == std::string::npos;
  return is_path ? path : std::nullopt;
}

}  // namespace

std::vector<std::string> PathsOfUriList(std::string_view text, std::string_view host) {
  std::vector<std::string> paths;
  text = text.substr(0, kUriListBytesMax);
  while (!text.empty() && paths.size() < kUriListPathsMax) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    // A line that begins with # is a comment, and has no path of its own either.
    if (auto path = PathOf(text.substr(0, end), host)) {
      paths.push_back(std::move(*path));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return paths;
}

}  // namespace sprites
