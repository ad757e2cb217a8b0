// What all I/O loops of one front share.
//
// Threads: written before the loops start, except for the counters, which every loop counts.
#ifndef SERVER_NATIVE_IO_SHARED_STATE_H_
#define SERVER_NATIVE_IO_SHARED_STATE_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "http/answer.h"
#include "io/address_counts.h"

namespace sprites {

// How long a peer may take. Each is ≤ DeadlineWheel::kDeadlineMsMax.
struct Timeouts {
  // For a whole request, from its first byte; for the first request, from accept.
  uint32_t request_ms = 10'000;
  uint32_t idle_ms = 65'000;   // between requests; above the 60 s after which clients hang up
  uint32_t write_ms = 30'000;  // until the socket accepts more of an answer
  uint32_t linger_ms = 2'000;  // to read the last answer before the connection closes
};

struct SharedState {
  uint32_t connections_max = 0;
  uint32_t connections_per_address_max = 0;  // 0: not limited, and not counted
  Timeouts timeouts;
  // Of each loop: for partial requests, and as much again for unsent answers.
  uint64_t buffer_bytes_max = 0;
  std::array<ProblemBody, static_cast<size_t>(Problem::kCount)> problems;
  std::atomic<uint32_t> connections{0};
  std::atomic<uint32_t> refused{0};
  AddressCounts addresses;

  const ProblemBody& BodyOf(Problem problem) const {
    return problems[static_cast<size_t>(problem)];
  }
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_SHARED_STATE_H_
