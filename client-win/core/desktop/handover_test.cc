#include "core/desktop/handover.h"

#include <doctest/doctest.h>

#include <limits>

namespace sprites {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// An instance that takes files from `ready_ms` until `ending_ms`, and has ended at `ended_ms`.
struct PretendInstance : OtherInstance {
  bool HasEnded(int64_t ms) override {
    now += ms;
    return now >= ended_ms;
  }
  bool Send() override {
    now++;  // even a short message takes a moment
    sends++;
    return now >= ready_ms && now < ending_ms;
  }
  int64_t NowMs() override { return now; }

  int64_t now = 0;
  int64_t ready_ms = 0;
  int64_t ending_ms = kNever;
  int64_t ended_ms = kNever;
  int sends = 0;
};

TEST_CASE("handover › is first at once when there is no other instance") {
  PretendInstance other;
  other.ended_ms = 0;
  CHECK(HandOver(&other) == Handover::kIsFirst);
  CHECK(other.sends == 0);
}

TEST_CASE("handover › sends its files to an instance that runs, or is still starting") {
  PretendInstance runs;
  CHECK(HandOver(&runs) == Handover::kSent);
  CHECK(runs.now < kHandoverRetryMs);
  PretendInstance starts;
  starts.ready_ms = 3'000;
  CHECK(HandOver(&starts) == Handover::kSent);
}

TEST_CASE("handover › starts in the place of an instance that says farewell") {
  PretendInstance other;
  other.ending_ms = 0;
  other.ended_ms = 2'000;
  CHECK(HandOver(&other) == Handover::kIsFirst);
  CHECK(other.now < 2'000 + 2 * kHandoverRetryMs);
}

TEST_CASE("handover › gives up on an instance that neither answers nor ends") {
  PretendInstance other;
  other.ready_ms = kNever;
  CHECK(HandOver(&other) == Handover::kFailed);
  CHECK(other.now >= kHandoverMsMax);
}

}  // namespace
}  // namespace sprites
