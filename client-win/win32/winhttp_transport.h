// Requests by WinHTTP: TLS and proxy are those of the system.
//
// WinHTTP runs asynchronously underneath, so that every wait here ends by its timeout or by Cancel,
// whatever the other side does. Connections are kept by WinHTTP and used again; an exchange under
// way has one of its own, so a held poll blocks nobody. Redirects are not followed.
// Threads: Exchange on several at once, Cancel on any. Cost: one read of at most 16 KiB at a time.
#ifndef CLIENT_WIN_WIN32_WINHTTP_TRANSPORT_H_
#define CLIENT_WIN_WIN32_WINHTTP_TRANSPORT_H_

#include <windows.h>
// After windows.h.
#include <winhttp.h>

#include <map>
#include <mutex>
#include <set>

#include "core/relay/transport.h"
#include "win32/owned.h"

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
  std::map<RequestId, HANDLE> under_way_;  // the event that ends each
  std::set<RequestId> cancelled_early_;    // before they began
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_WINHTTP_TRANSPORT_H_
