#include "core/desktop/second_start.h"

#include <doctest/doctest.h>

#include <limits>

namespace sprites {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// An instance that takes files from `ready_ms` until `ending_ms`, and has ended at `ended_ms`.
struct PretendInstance {
  StartOutcome Start() {
    return StartBeside({.has_ended =
                            [this](int64_t ms) {
                              now += ms;
                              return now >= ended_ms;
                            },
                        .send =
                            [this] {
                              now++;  // even a short message takes a moment
                              sends++;
                              return now >= ready_ms && now < ending_ms;
                            },
                        .now_ms = [this] { return now; }});
  }

  int64_t now = 0;
  int64_t ready_ms = 0;
  int64_t ending_ms = kNever;
  int64_t ended_ms = kNever;
  int sends = 0;
};

TEST_CASE("second start › is first at once when there is no other instance") {
  PretendInstance other;
  other.ended_ms = 0;
  CHECK(other.Start() == StartOutcome::kIsFirst);
  CHECK(other.sends == 0);
}

TEST_CASE("second start › sends its files to an instance that runs, or is still starting") {
  PretendInstance runs;
  CHECK(runs.Start() == StartOutcome::kSent);
  CHECK(runs.now < kSecondStartRetryMs);
  PretendInstance starts;
  starts.ready_ms = 3'000;
  CHECK(starts.Start() == StartOutcome::kSent);
}

TEST_CASE("second start › starts in the place of an instance that says farewell") {
  PretendInstance other;
  other.ending_ms = 0;
  other.ended_ms = 2'000;
  CHECK(other.Start() == StartOutcome::kIsFirst);
  CHECK(other.now < 2'000 + 2 * kSecondStartRetryMs);
}

TEST_CASE("second start › gives up on an instance that neither answers nor ends") {
  PretendInstance other;
  other.ready_ms = kNever;
  CHECK(other.Start() == StartOutcome::kFailed);
  CHECK(other.now >= kSecondStartMsMax);
}

}  // namespace
}  // namespace sprites
