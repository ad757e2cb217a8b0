#include "core/relay/backoff.h"

#include <doctest/doctest.h>

namespace sprites {
namespace {

TEST_CASE("backoff › doubles, half of it random, and stays within its limit") {
  CHECK(BackoffMs(0, [] { return 0.0; }) == kBackoffMsFirst / 2);
  CHECK(BackoffMs(1, [] { return 0.0; }) == kBackoffMsFirst);
  CHECK(BackoffMs(1000, [] { return 0.999999; }) < kBackoffMsMax + 1);
}

}  // namespace
}  // namespace sprites
