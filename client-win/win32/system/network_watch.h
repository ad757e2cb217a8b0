// Reports that an address of this computer has come or gone: a cable, a wireless network, a VPN.
//
// Threads: constructed and destroyed on one; the message is posted from a thread of Windows.
#ifndef CLIENT_WIN_WIN32_SYSTEM_NETWORK_WATCH_H_
#define CLIENT_WIN_WIN32_SYSTEM_NETWORK_WATCH_H_

#include <windows.h>

namespace sprites {

constexpr UINT kNetworkMessage = WM_APP + 16;  // posted to the window, often several at once

class NetworkWatch {
 public:
  explicit NetworkWatch(HWND window);
  // Waits until no message is being posted.
  ~NetworkWatch();
  NetworkWatch(const NetworkWatch&) = delete;
  NetworkWatch& operator=(const NetworkWatch&) = delete;

 private:
  HANDLE notification_ = nullptr;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_NETWORK_WATCH_H_
