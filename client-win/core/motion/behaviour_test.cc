#include "core/motion/behaviour.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace sprites {
namespace {

TEST_CASE("behaviour › has a row for each mode, in their order") {
  REQUIRE(BehaviourTable().size() == kModes);
  for (size_t i = 0; i < kModes; i++) {
    CHECK(BehaviourTable()[i].mode == static_cast<Mode>(i));
    CHECK(&RulesOf(static_cast<Mode>(i)) == &BehaviourTable()[i]);
  }
}

TEST_CASE("behaviour › limits speeds, and treats what is not a number as 0") {
  CHECK(LimitedSpeed(kSpeedMax - 1) == kSpeedMax - 1);
  CHECK(LimitedSpeed(kSpeedMax) == kSpeedMax);
  CHECK(LimitedSpeed(-kSpeedMax - 1) == -kSpeedMax);
  CHECK(LimitedSpeed(std::numeric_limits<double>::infinity()) == kSpeedMax);
  CHECK(LimitedSpeed(std::nan("")) == 0);
}

TEST_CASE("behaviour › decides by its random numbers") {
  struct Case {
    Mode from;
    double lot;
    Mode to;
  };
  for (const Case& one :
       {Case{Mode::kIdle, 0.05, Mode::kFall}, Case{Mode::kIdle, 0.3, Mode::kIdle},
        Case{Mode::kIdle, 0.35, Mode::kYawn}, Case{Mode::kYawn, 0.5, Mode::kIdle},
        Case{Mode::kIdle, 0.5, Mode::kWalk}, Case{Mode::kWalk, 0.5, Mode::kIdle},
        Case{Mode::kLand, 0.5, Mode::kIdle}, Case{Mode::kSleep, 0.5, Mode::kIdle}}) {
    Sprite sprite;
    sprite.mode = one.from;
    Decide(&sprite, 1000, false, [&] { return one.lot; });
    CHECK(sprite.mode == one.to);
    CHECK((sprite.next_ms > 1000 || sprite.mode == Mode::kFall));
  }
  Sprite bored;
  bored.mode = Mode::kIdle;
  Decide(&bored, kBoredMs + 1, false, [] { return 0.5; });
  CHECK(bored.mode == Mode::kSleep);
  Sprite calm;
  calm.mode = Mode::kIdle;
  Decide(&calm, 1000, true, [] { return 0.5; });
  CHECK(calm.mode == Mode::kIdle);
}

}  // namespace
}  // namespace sprites
