// A pipe that wakes the main thread: poll() on fd() returns once another thread has called Wake.
#ifndef CLIENT_WIN_POSIX_WAKE_PIPE_H_
#define CLIENT_WIN_POSIX_WAKE_PIPE_H_

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace sprites {

class WakePipe {
 public:
  WakePipe() {
    if (pipe2(ends_, O_NONBLOCK | O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe");
    }
  }
  ~WakePipe() {
    close(ends_[0]);
    close(ends_[1]);
  }
  WakePipe(const WakePipe&) = delete;
  WakePipe& operator=(const WakePipe&) = delete;

  // Any thread may call it. A full pipe wakes too, so its failure does not matter.
  void Wake() const { (void)!write(ends_[1], "!", 1); }
  // Forgets the calls of Wake so far.
  void Clear() const {
    char bytes[64];
    while (read(ends_[0], bytes, sizeof bytes) > 0) {
    }
  }
  int fd() const { return ends_[0]; }

 private:
  int ends_[2];
};

}  // namespace sprites

#endif  // CLIENT_WIN_POSIX_WAKE_PIPE_H_
