#ifndef SERVER_NATIVE_IO_CLOCK_H_
#define SERVER_NATIVE_IO_CLOCK_H_

#include <cstdint>
#include <ctime>

namespace sprites {

// CLOCK_MONOTONIC in milliseconds, a few milliseconds coarse.
inline uint64_t NowMs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_CLOCK_H_
