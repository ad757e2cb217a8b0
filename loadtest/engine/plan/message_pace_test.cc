#include "plan/message_pace.h"

#include <doctest/doctest.h>

namespace swarm {

TEST_CASE("message pace: so many messages at once, not one more, and then so many a second") {
  MessagePace pace;
  const int64_t now_ns = 5 * kNsPerSecond;
  for (int64_t i = 0; i < kMessagesAtOnceMax; ++i) {
    CAPTURE(i);
    REQUIRE(pace.MaySend(now_ns));
    pace.Count(now_ns);
  }
  CHECK(!pace.MaySend(now_ns));
  const int64_t gap_ns = pace.free_at_ns() - now_ns;
  CHECK_EQ(gap_ns, kNsPerSecond / kMessagesPerSecondMax);
  CHECK(!pace.MaySend(now_ns + gap_ns - 1));
  CHECK(pace.MaySend(now_ns + gap_ns));
}

TEST_CASE("message pace: a second of full speed stays below what the relay reads") {
  MessagePace pace;
  int64_t sent = 0;
  for (int64_t now_ns = 0; now_ns < 10 * kNsPerSecond; now_ns += kNsPerMs) {
    while (pace.MaySend(now_ns)) {
      pace.Count(now_ns);
      ++sent;
    }
  }
  CHECK(sent <= kMessagesAtOnceMax + 10 * kMessagesPerSecondMax);
  CHECK(sent >= kMessagesAtOnceMax + 10 * kMessagesPerSecondMax - 2);
}

TEST_CASE("message pace: a poll that must be sent counts too, and throws wait for longer") {
  MessagePace pace;
  for (int64_t i = 0; i < kMessagesAtOnceMax + 10; ++i) {
    pace.Count(0);
  }
  CHECK_EQ(pace.free_at_ns(), 11 * (kNsPerSecond / kMessagesPerSecondMax));
}

}  // namespace swarm
