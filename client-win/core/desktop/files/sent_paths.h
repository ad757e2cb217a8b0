// The paths of files that a second start of the program sends to the first one.
//
// Any program of the same user can send such a message, so all of it is checked.
#ifndef CLIENT_WIN_CORE_DESKTOP_FILES_SENT_PATHS_H_
#define CLIENT_WIN_CORE_DESKTOP_FILES_SENT_PATHS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sprites {

constexpr size_t kSentPathsMax = 64;       // paths in one message
constexpr size_t kSentBytesMax = 262'144;  // bytes of a message

// The text in a message of so many bytes; nullopt if it is too long or breaks off in a letter.
// REQUIRES: `start` is aligned for Char.
template <class Char>
std::optional<std::basic_string_view<Char>> ReadSentText(const void* start, size_t bytes) {
  if (bytes > kSentBytesMax || bytes % sizeof(Char) != 0) {
    return std::nullopt;
  }
  return std::basic_string_view<Char>(static_cast<const Char*>(start), bytes / sizeof(Char));
}

// The paths in a text, each of which ends with a 0; nullopt if one does not. Those after
// kSentPathsMax are left out.
template <class Char>
std::optional<std::vector<std::basic_string<Char>>> ReadSentPaths(
    std::basic_string_view<Char> text) {
  std::vector<std::basic_string<Char>> paths;
  while (!text.empty() && paths.size() < kSentPathsMax) {
    const size_t end = text.find(Char{});
    if (end == text.npos) {
      return std::nullopt;
    }
    paths.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return paths;
}

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_FILES_SENT_PATHS_H_
