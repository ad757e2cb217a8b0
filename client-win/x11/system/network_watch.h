// Notices that the machine got another address: a network came, went or changed.
#ifndef CLIENT_WIN_X11_SYSTEM_NETWORK_WATCH_H_
#define CLIENT_WIN_X11_SYSTEM_NETWORK_WATCH_H_

#include "posix/owned_fd.h"

namespace sprites {

class NetworkWatch {
 public:
  // Where the kernel does not allow it, fd() is negative, and no change is ever noticed.
  NetworkWatch();

  // Readable when there may have been a change.
  int fd() const { return socket_.get(); }
  // Reads what the kernel has reported. Returns whether there was something.
  bool HasChanged();

 private:
  OwnedFd socket_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_NETWORK_WATCH_H_
