#include "core/screen/check_pace.h"

#include <doctest/doctest.h>

namespace sprites {
namespace {

TEST_CASE("check pace › looks often while windows move below a sprite, and rarely when all rests") {
  constexpr int64_t kLong = 60'000;
  CHECK(CheckMs(true, 0, 0) == kCheckMsMoving);
  CHECK(CheckMs(true, kQuietAfterMs - 1, kLong) == kCheckMsMoving);
  CHECK(CheckMs(true, kQuietAfterMs, 0) == kCheckMs);
  CHECK(CheckMs(true, kQuietAfterMs, kQuietAfterMs - 1) == kCheckMs);
  CHECK(CheckMs(true, kQuietAfterMs, kQuietAfterMs) == kCheckMsQuiet);
  CHECK(CheckMs(false, 0, kLong) == kCheckMs);
  CHECK(CheckMs(false, kLong, 0) == kCheckMs);
  CHECK(CheckMs(false, kLong, kLong) == kCheckMsQuiet);
}

}  // namespace
}  // namespace sprites
