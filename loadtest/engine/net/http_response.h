// Parses one HTTP/1.1 response from bytes that may be incomplete, wrong or hostile.
//
// Invariant: the parser reads nothing outside `bytes` and allocates nothing. The result is one of
// three: it needs more bytes; it is done, and reports how many bytes it consumed; the bytes are
// bad. Heads and bodies have a maximum, so a peer cannot make it wait for ever. A chunked body is
// joined in place: this writes to `bytes`, but only when the whole body has arrived.
#ifndef LOADTEST_ENGINE_NET_HTTP_RESPONSE_H_
#define LOADTEST_ENGINE_NET_HTTP_RESPONSE_H_

#include <cstddef>
#include <span>
#include <string_view>

namespace swarm {

constexpr size_t kHeadBytesMax = size_t{16} * 1024;  // twice the maximum of common servers
constexpr size_t kBodyBytesMax = size_t{512} * 1024;  // a batch: ≤ 64 events of ≤ 1.5 KiB, 96 KiB

struct HttpResponse {
  int status = 0;
  int retry_after_seconds = -1;  // −1: the response has no Retry-After
  bool keep_alive = true;
  std::string_view body;  // a view of the bytes given
  size_t consumed = 0;
};

// Whether a server may send this response on an idle connection before it closes the connection.
inline bool MayCloseIdle(const HttpResponse& response) {
  return response.status == 408 || response.status == 503;
}

enum class ParseResult { kDone, kNeedMore, kBad };

// `at_end`: the peer has closed the connection, which ends a body without a length.
ParseResult ParseHttpResponse(std::span<char> bytes, bool at_end, HttpResponse* response);

}  // namespace swarm

#endif  // LOADTEST_ENGINE_NET_HTTP_RESPONSE_H_
