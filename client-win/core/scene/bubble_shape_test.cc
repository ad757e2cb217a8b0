#include "core/scene/bubble_shape.h"

#include <doctest/doctest.h>

namespace sprites {
namespace {

const Rect kBox{10, 20, 110, 60};

TEST_CASE("bubble shape › the distance to a box is negative inside, and corners are round") {
  CHECK(DistanceToRoundBox({60, 40}, kBox, 8) == -20);
  CHECK(DistanceToRoundBox({60, 20}, kBox, 8) == 0);
  CHECK(DistanceToRoundBox({60, 63}, kBox, 8) == 3);
  CHECK(DistanceToRoundBox({10, 20}, kBox, 8) > 3);
  CHECK(DistanceToRoundBox({10, 20}, kBox, 0) == 0);
}

TEST_CASE("bubble shape › a tail begins inside the box, and its tip is outside at its side") {
  const Point tips[] = {{4, 40}, {116, 40}, {60, 14}, {60, 66}};  // by Edge
  for (const Edge side : {Edge::kLeft, Edge::kRight, Edge::kTop, Edge::kBottom}) {
    const BubbleTail tail{side, IsSide(side) ? 20.0 : 50.0, 7};
    const Point tip = tips[static_cast<size_t>(side)];
    CHECK(DistanceToBubble(tip, kBox, 8, tail) == 0);
    CHECK(DistanceToBubble(tip, kBox, 8, std::nullopt) == 6);
    CHECK(DistanceToBubble(tips[static_cast<size_t>(Opposite(side))], kBox, 8, tail) == 6);
  }
}

}  // namespace
}  // namespace sprites
