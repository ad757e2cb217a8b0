// The transport on Linux: HTTP by libcurl.
//
// Invariant: a response is never longer than its request allows, redirects are not followed, and
// only http and https are used. Cost: one connection for each concurrent exchange, reused by later
// ones.
#ifndef CLIENT_WIN_POSIX_CURL_TRANSPORT_H_
#define CLIENT_WIN_POSIX_CURL_TRANSPORT_H_

#include <curl/curl.h>

#include <mutex>
#include <set>
#include <vector>

#include "core/relay/transport.h"

namespace sprites {

class CurlTransport : public Transport {
 public:
  CurlTransport();
  ~CurlTransport() override;
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;

  Response Exchange(const Request& request) override;
  void Cancel(RequestId id) override;

 private:
  struct Exchanged;

  static size_t OnBytes(char* bytes, size_t size, size_t count, void* exchanged);
  static int OnProgress(void* exchanged, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
  bool IsCancelled(RequestId id);
  CURL* AcquireHandle();
  void ReleaseHandle(CURL* handle, RequestId id);

  std::mutex mutex_;
  std::vector<CURL*> idle_;
  std::set<RequestId> cancelled_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_POSIX_CURL_TRANSPORT_H_
