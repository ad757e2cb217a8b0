// A file descriptor that is closed when its owner goes.
#ifndef CLIENT_WIN_POSIX_OWNED_FD_H_
#define CLIENT_WIN_POSIX_OWNED_FD_H_

#include <unistd.h>

#include <utility>

namespace sprites {

class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  ~OwnedFd() { reset(); }
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }

  // Negative when there is none.
  int get() const { return fd_; }
  void reset(int fd = -1) {
    if (fd_ >= 0) {
      close(fd_);
    }
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace sprites

#endif  // CLIENT_WIN_POSIX_OWNED_FD_H_
