// One HTTP/1.1 response, read out of bytes that may be incomplete, wrong or hostile.
//
// Invariant: the parser looks at nothing outside `bytes`, allocates nothing, and either needs more,
// is done and says how many bytes the response took, or calls the bytes bad. Heads and bodies have
// a limit, so it cannot be made to wait for ever. A chunked body is joined in place: `bytes` is
// written to, and only once the whole body is there.
#ifndef LOADTEST_ENGINE_HTTP_RESPONSE_H_
#define LOADTEST_ENGINE_HTTP_RESPONSE_H_

#include <cstddef>
#include <span>
#include <string_view>

namespace swarm {

constexpr size_t kHeadBytesMax = size_t{16} * 1024;  // twice what common servers send at most
constexpr size_t kBodyBytesMax =
    size_t{512} * 1024;  // a poll's answer holds ≤ 64 events of ≤ 1.5 KiB: 96 KiB

struct HttpResponse {
  int status = 0;
  int retry_after_seconds = -1;  // −1: not said
  bool keep_alive = true;
  std::string_view body;  // a view of the bytes given
  size_t consumed = 0;
};

// What a server may say on a connection on which nothing was asked, before it closes it.
inline bool ClosesIdle(const HttpResponse& response) {
  return response.status == 408 || response.status == 503;
}

enum class ParseResult { kDone, kNeedMore, kBad };

// `at_end`: the peer has closed, nothing more will come (ends a body that has no length).
ParseResult ParseHttpResponse(std::span<char> bytes, bool at_end, HttpResponse* response);

}  // namespace swarm

#endif  // LOADTEST_ENGINE_HTTP_RESPONSE_H_
