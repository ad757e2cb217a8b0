#include "core/motion/hold_watch.h"

#include <doctest/doctest.h>

namespace sprites {
namespace {

TEST_CASE(
    "hold watch › releases a sprite whose button is up for long, not one whose message waits") {
  HoldWatch watch;
  CHECK(!watch.Update(true, true, 0));
  CHECK(!watch.Update(true, false, 1'000));
  CHECK(!watch.Update(true, false, 1'000 + kLostHoldMs - 1));
  CHECK(watch.Update(true, false, 1'000 + kLostHoldMs));
}

TEST_CASE("hold watch › starts again when the button is down again, and when nothing is held") {
  HoldWatch watch;
  watch.Update(true, true, 0);
  watch.Update(true, false, 10);
  CHECK(!watch.Update(true, true, 100));
  CHECK(!watch.Update(true, false, 200));
  CHECK(!watch.Update(true, false, 200 + kLostHoldMs - 1));
  CHECK(!watch.Update(false, false, 1'000));
  CHECK(!watch.Update(true, true, 1'001));
  CHECK(!watch.Update(true, false, 1'002));
}

TEST_CASE("hold watch › keeps a hold whose button it has never seen down: Windows hides it") {
  HoldWatch watch;
  for (int64_t ms = 0; ms < 10 * kLostHoldMs; ms += 10) {
    CHECK(!watch.Update(true, false, ms));
  }
  // The next hold knows nothing of this one.
  watch.Update(true, true, 5'000);
  watch.Update(false, false, 5'010);
  for (int64_t ms = 6'000; ms < 8'000; ms += 10) {
    CHECK(!watch.Update(true, false, ms));
  }
}

}  // namespace
}  // namespace sprites
