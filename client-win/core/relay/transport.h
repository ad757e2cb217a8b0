// Makes the requests of the core: plain HTTP by the shell's transport, sprite files through the
// file cache.
#ifndef CLIENT_WIN_CORE_RELAY_TRANSPORT_H_
#define CLIENT_WIN_CORE_RELAY_TRANSPORT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "core/picture/file_cache.h"
#include "core/relay/request.h"

namespace sprites {

constexpr int kRetryAfterSecondsMax = 86'400;  // s: a day; a longer wait is an error of the server

constexpr int kConnectMsMax = 5'000;  // ms: a reachable host accepts sooner

// One HTTP exchange at a time and thread. The shell implements it; several threads call it at once.
class Transport {
 public:
  virtual ~Transport() = default;
  // Blocks until the exchange is over.
  virtual Response Exchange(const Request& request) = 0;
  // Makes an exchange that is under way, or is about to start, return status 0 soon.
  virtual void Cancel(RequestId id) = 0;
};

// How long a transport tries to connect for a request, in ms.
int ConnectMs(const Request& request);

// The wait that a `Retry-After` header asks for, in s, 0 … kRetryAfterSecondsMax.
int RetryAfterSeconds(int64_t asked_s);

// Adds received bytes to a body. Returns false, and adds nothing, when the body would be longer
// than `bytes_max`: then the transport ends the exchange.
bool AddToBody(std::string_view received, size_t bytes_max, std::string* body);

// Makes a request and returns its response. A GET of a file looks in the cache first; a file that
// is received is checked, decoded and stored there, as an own one if the request says so. A PUT of
// a file reads its bytes from the cache, and returns status 404 when the file is not in it. Blocks,
// on any thread: all slow work with files happens here. Never throws.
Response Perform(const Request& request, Transport& transport, FileCache& cache);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_TRANSPORT_H_
