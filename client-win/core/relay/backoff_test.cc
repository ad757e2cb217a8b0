#include "core/relay/backoff.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/relay/crossing.h"
#include "core/text/test_vectors.h"

namespace sprites {
namespace {

TEST_CASE("backoff › has the constants of the vectors") {
  const Json vectors = ReadVectors(RELAY_VECTORS);
  const Json& constants = vectors["constants"];
  CHECK(constants["BACKOFF_MS_FIRST"] == kBackoffMsFirst);
  CHECK(constants["BACKOFF_MS_MAX"] == kBackoffMsMax);
  CHECK(constants["BYE_MS_MAX"] == kByeMsMax);
  CHECK(constants.size() == 3);
}

TEST_CASE("backoff › doubles, half of it random, and stays within its limit") {
  CHECK(BackoffMs(0, [] { return 0.0; }) == kBackoffMsFirst / 2);
  CHECK(BackoffMs(1, [] { return 0.0; }) == kBackoffMsFirst);
  CHECK(BackoffMs(1000, [] { return 0.999999; }) < kBackoffMsMax + 1);
}

TEST_CASE(
    "backoff › the wait before it is halved at random: below its limit, the limit, above it") {
  const Random full = [] { return 1.0; };
  constexpr int64_t kDoubledThrice = 8 * kBackoffMsFirst;
  for (const int64_t limit : {kDoubledThrice - 1, kDoubledThrice, kDoubledThrice + 1}) {
    CHECK(BackoffMs(3, full, limit) == std::min(limit, kDoubledThrice));
  }
  CHECK(BackoffMs(5, full) == 12'800);
  CHECK(BackoffMs(6, full) == kBackoffMsMax);
  CHECK(BackoffMs(9, full, kRefusedMsMax) == 204'800);
  for (const int attempt : {10, 11, 1'000'000}) {
    CHECK(BackoffMs(attempt, full, kRefusedMsMax) == kRefusedMsMax);
  }
}

}  // namespace
}  // namespace sprites
