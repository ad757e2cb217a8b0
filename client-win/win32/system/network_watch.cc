#include "win32/system/network_watch.h"

#include <winsock2.h>
// After winsock2.h.
#include <ws2tcpip.h>
// After ws2tcpip.h.
#include <iphlpapi.h>
#include <netioapi.h>

namespace sprites {

namespace {

void NETIOAPI_API_ OnChange(void* window, MIB_UNICASTIPADDRESS_ROW*, MIB_NOTIFICATION_TYPE) {
  PostMessageW(static_cast<HWND>(window), kNetworkMessage, 0, 0);
}

}  // namespace

NetworkWatch::NetworkWatch(HWND window) {
  if (NotifyUnicastIpAddressChange(AF_UNSPEC, OnChange, window, FALSE, &notification_) !=
      NO_ERROR) {
    notification_ = nullptr;
  }
}

NetworkWatch::~NetworkWatch() {
  if (notification_ != nullptr) {
    CancelMibChangeNotify2(notification_);
  }
}

}  // namespace sprites
