// The files in a list of URIs, as a file manager gives it to the program on which they are dropped.
//
// Source: RFC 2483 §5 (text/uri-list), RFC 8089 (file:), the freedesktop.org file URI
// specification. Cost: O(text).
#ifndef CLIENT_WIN_POSIX_URI_LIST_H_
#define CLIENT_WIN_POSIX_URI_LIST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sprites {

constexpr size_t kUriListBytesMax = 262'144;  // bytes of a list: 64 paths of 4 KiB
constexpr size_t kUriListPathsMax = 64;       // files of a list: those after it are left out

// The absolute paths of the files on this machine, whose name is `host`. URIs of other kinds and
// of other machines are left out.
std::vector<std::string> PathsOfUriList(std::string_view text, std::string_view host);

}  // namespace sprites

#endif  // CLIENT_WIN_POSIX_URI_LIST_H_
