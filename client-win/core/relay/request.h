// HTTP requests as values: what the core asks for, and what came of it.
//
// The core never waits for the network. It puts a Request into its outbox, and the shell hands the
// Response back under the same id.
#ifndef CLIENT_WIN_CORE_RELAY_REQUEST_H_
#define CLIENT_WIN_CORE_RELAY_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/picture/sheet.h"
#include "wire/rules.h"

namespace sprites {

// Of every request that the relay does not hold.
constexpr uint32_t kShortTimeoutMs = rules::kAnswerMsMax;
constexpr uint32_t kFileTimeoutMs = 20'000;  // of a file of at most 1 MiB
using rules::kResponseBytesMax;

// How a request travels. Each lane has its own connections, so a held poll blocks nothing else.
enum class Lane : uint8_t {
  kPoll,   // the long-poll: one at a time, held for minutes
  kShort,  // join, crossings, neighbours, leave: several at a time
  kFile,   // sprite files, up and down
};

enum class Method : uint8_t { kGet, kPost, kPut, kDelete };

using RequestId = uint64_t;  // 0 is no request

// An HTTP request for the shell to make. Each gets exactly one Response, at its timeout at the
// latest. The transport does not follow redirects and reads at most `response_bytes_max` bytes of
// the body. Never log `token`.
struct Request {
  RequestId id = 0;  // 0: Context::Send gives it one
  Lane lane = Lane::kShort;
  Method method = Method::kGet;
  std::string url;
  std::string token;         // for `Authorization: Bearer …`; empty for none
  std::string content_type;  // empty without a body
  std::string body;
  // The hash of a sprite file, else empty. A GET must receive the file with this hash; a PUT sends
  // that file from the cache; a DELETE deletes it from the cache,
  // unless it is an own one, and asks nobody.
  std::string file;
  bool keeps_file = false;                // a GET stores the file as one of the person's own
  uint32_t timeout_ms = kShortTimeoutMs;  // from the start to the last byte
  size_t response_bytes_max = kResponseBytesMax;
};

// The request for a sprite file of a relay.
inline Request FileRequest(const std::string& relay, const std::string& file) {
  Request request;
  request.lane = Lane::kFile;
  request.url = relay + "/v1/sprites/" + file;
  request.file = file;
  request.timeout_ms = kFileTimeoutMs;
  request.response_bytes_max = kSprBytesMax;
  return request;
}

// Why a transport did not believe that it speaks to the host of the address.
enum class CertificateFault : uint8_t {
  kNone,
  kDate,     // the certificate is not valid yet or any more, or the clock is wrong
  kName,     // it is that of another host
  kUnknown,  // nobody whom this computer trusts has issued it, or it is wrong otherwise
};

// What came of a request. Status 0: there was no usable response, because of no connection, a
// timeout, or a broken or too long response.
struct Response {
  RequestId id = 0;
  int status = 0;
  std::string body;
  int retry_after_s = 0;  // of the header; 0 for none
  SheetPointer sheet;     // the decoded file, when a GET received the file it asked for; else null
  CertificateFault certificate = CertificateFault::kNone;  // with status 0
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_REQUEST_H_
