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
  watch.Update(true, false, 0);
  CHECK(!watch.Update(true, true, 100));
  CHECK(!watch.Update(true, false, 200));
  CHECK(!watch.Update(true, false, 200 + kLostHoldMs - 1));
  CHECK(!watch.Update(false, false, 1'000));
  CHECK(!watch.Update(true, false, 1'001));
}

}  // namespace
}  // namespace sprites
