#include "run/start_signal.h"

#include <poll.h>
#include <unistd.h>

#include <charconv>

namespace swarm {
namespace {

constexpr size_t kLineBytesMax = 32;  // a time in ms has 13 digits

}  // namespace

StartSignal::State StartSignal::Poll() {
  for (;;) {
    pollfd wanted{fd_, POLLIN, 0};
    if (poll(&wanted, 1, 0) != 1) {
      return State::kWaiting;
    }
    char one = 0;
    if (read(fd_, &one, 1) != 1) {
      return State::kClosed;
    }
    if (one != '\n') {
      line_ += one;
      if (line_.size() > kLineBytesMax) {
        return State::kClosed;
      }
      continue;
    }
    const char* const end = line_.data() + line_.size();
    const auto read = std::from_chars(line_.data(), end, start_at_ms_);
    return read.ec == std::errc() && read.ptr == end ? State::kReceived : State::kClosed;
  }
}

}  // namespace swarm
