#include "core/motion/click.h"

#include <doctest/doctest.h>

namespace sprites {
namespace {

TEST_CASE("click › px that the pointer may move: below the limit, the limit; more is a drag") {
  constexpr double kAcross = 4;
  constexpr double kDown = 6;
  for (const double px : {3.0, 4.0, 5.0}) {
    CHECK(IsClick({10, 10}, {10 + px, 10}, kAcross, kDown) == (px <= kAcross));
    CHECK(IsClick({10, 10}, {10 - px, 10}, kAcross, kDown) == (px <= kAcross));
  }
  for (const double px : {5.0, 6.0, 7.0}) {
    CHECK(IsClick({-10, 10}, {-10, 10 + px}, kAcross, kDown) == (px <= kDown));
    CHECK(IsClick({-10, 10}, {-10, 10 - px}, kAcross, kDown) == (px <= kDown));
  }
}

}  // namespace
}  // namespace sprites
