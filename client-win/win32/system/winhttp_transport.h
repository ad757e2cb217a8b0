// Makes HTTP requests with WinHTTP, with the TLS and proxy settings of the system.
//
// WinHTTP is used in asynchronous mode, so that each wait ends by its timeout or by Cancel,
// whatever the relay does. WinHTTP keeps connections and reuses them; each exchange in progress has
// its own connection, so a held poll does not block other requests. Redirects are not followed.
// Threads: Exchange on several at once, Cancel on any. Cost: reads at most 16 KiB at a time.
#ifndef CLIENT_WIN_WIN32_SYSTEM_WINHTTP_TRANSPORT_H_
#define CLIENT_WIN_WIN32_SYSTEM_WINHTTP_TRANSPORT_H_

#include <windows.h>
// After windows.h.
#include <winhttp.h>

#include <map>
#include <mutex>
#include <set>

#include "core/relay/transport.h"
#include "win32/system/owned.h"

namespace sprites {

class WinHttpTransport : public Transport {
 public:
  WinHttpTransport();

  Response Exchange(const Request& request) override;
  void Cancel(RequestId id) override;

 private:
  using OwnedInternet = Owned<HINTERNET, WinHttpCloseHandle>;

  OwnedInternet session_;
  std::mutex mutex_;
  std::map<RequestId, HANDLE> in_progress_;  // with the event that cancels each
  std::set<RequestId> cancelled_early_;      // cancelled before Exchange was called
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_WINHTTP_TRANSPORT_H_
