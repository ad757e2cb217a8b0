// How fast one socket may send messages, so that its relay never has to stop reading from it.
//
// A relay reads 500 messages a second from a socket, and 500 at once (PROTOCOL.md). A client that
// stays below both by a tenth and a fifth has room for messages that the network bunches.
// Memory: 8 bytes.
#ifndef LOADTEST_ENGINE_PLAN_MESSAGE_PACE_H_
#define LOADTEST_ENGINE_PLAN_MESSAGE_PACE_H_

#include <algorithm>
#include <cstdint>

#include "plan/clock.h"
#include "wire/rules.h"

namespace swarm {

constexpr int64_t kMessagesPerSecondMax = rules::kMessagesPerSecondMax * 9 / 10;
constexpr int64_t kMessagesAtOnceMax = rules::kMessagesBurstMax * 4 / 5;

class MessagePace {
 public:
  // Whether another message may be sent now.
  bool MaySend(int64_t now_ns) const { return paid_until_ns_ <= now_ns; }
  // When the next message may be sent.
  int64_t free_at_ns() const { return paid_until_ns_; }
  // Counts a message that was sent.
  void Count(int64_t now_ns) {
    paid_until_ns_ = std::max(paid_until_ns_, now_ns - kBurstNs) + kMessageNs;
  }

 private:
  static constexpr int64_t kMessageNs = kNsPerSecond / kMessagesPerSecondMax;
  static constexpr int64_t kBurstNs = kMessageNs * (kMessagesAtOnceMax - 1);

  int64_t paid_until_ns_ = INT64_MIN / 2;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_PLAN_MESSAGE_PACE_H_
