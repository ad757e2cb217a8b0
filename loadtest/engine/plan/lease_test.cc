#include "plan/lease.h"

#include <doctest/doctest.h>

namespace swarm {

TEST_CASE("lease: is what the relay says, in whole seconds within the limits of the protocol") {
  struct Case {
    double said;
    uint16_t seconds;
  };
  for (const Case& one : {Case{6, 6}, Case{90, 90}, Case{30.9, 30}, Case{4, 4}, Case{3.9, 4},
                          Case{-1, 4}, Case{600, 600}, Case{601, 600}, Case{1e99, 600}}) {
    CAPTURE(one.said);
    CHECK_EQ(LeaseSecondsOf(one.said), one.seconds);
  }
}

TEST_CASE("lease: a desktop polls again within half of it, and within five seconds") {
  struct Case {
    uint16_t lease_seconds;
    int64_t longest_ms;
  };
  for (const Case& one :
       {Case{4, 2'000}, Case{6, 3'000}, Case{10, 5'000}, Case{30, 5'000}, Case{90, 5'000}}) {
    CAPTURE(one.lease_seconds);
    CHECK_EQ(PollPauseMsMax(one.lease_seconds), one.longest_ms);
  }
}

TEST_CASE("lease: a relay counts as gone when the pauses have taken two of them, and not before") {
  for (const int seconds : {4, 6, 30, 90, 600}) {
    CAPTURE(seconds);
    const auto lease_seconds = static_cast<uint16_t>(seconds);
    const uint8_t tries = LostTries(lease_seconds);
    int64_t last_ms = 0;
    int64_t paused_ms = 0;
    for (uint8_t i = 0; i < tries; ++i) {
      last_ms = RetryMs(i, PollPauseMsMax(lease_seconds));
      paused_ms += last_ms;
    }
    CHECK(paused_ms >= seconds * 2'000);
    CHECK(paused_ms - last_ms < seconds * 2'000);
  }
}

}  // namespace swarm
