// The common start of a fleet: a line on stdin with the wall-clock time of the first throw, in ms.
//
// Machines have no monotonic clock in common, so this one time is on the wall clock. It is
// converted when the line is read; a clock that is set later no longer moves the start.
#ifndef LOADTEST_ENGINE_RUN_START_SIGNAL_H_
#define LOADTEST_ENGINE_RUN_START_SIGNAL_H_

#include <cstdint>
#include <string>

namespace swarm {

class StartSignal {
 public:
  enum class State : uint8_t { kWaiting, kReceived, kClosed };

  // `fd` is not closed.
  explicit StartSignal(int fd) : fd_(fd) {}

  // Reads what has arrived; never blocks. kClosed: the input ended without a time.
  State Poll();

  // REQUIRES: Poll() returned kReceived.
  uint64_t start_at_ms() const { return start_at_ms_; }

 private:
  int fd_;
  std::string line_;
  uint64_t start_at_ms_ = 0;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_RUN_START_SIGNAL_H_
