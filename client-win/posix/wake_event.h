// Wakes the main thread: poll() on fd() returns once another thread has called Wake.
#ifndef CLIENT_WIN_POSIX_WAKE_EVENT_H_
#define CLIENT_WIN_POSIX_WAKE_EVENT_H_

#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>

#include "posix/owned_fd.h"

namespace sprites {

class WakeEvent {
 public:
  WakeEvent() : event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (event_.get() < 0) {
      throw std::system_error(errno, std::generic_category(), "eventfd");
    }
  }

  // Any thread may call it.
  void Wake() const { eventfd_write(event_.get(), 1); }
  // Forgets the calls of Wake so far.
  void Clear() const {
    eventfd_t calls = 0;
    eventfd_read(event_.get(), &calls);
  }
  int fd() const { return event_.get(); }

 private:
  OwnedFd event_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_POSIX_WAKE_EVENT_H_
