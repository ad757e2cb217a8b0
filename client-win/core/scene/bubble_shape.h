// The outline of a speech bubble: a box with round corners, and perhaps a tail.
//
// Units: px. Cost: O(1) a call.
#ifndef CLIENT_WIN_CORE_SCENE_BUBBLE_SHAPE_H_
#define CLIENT_WIN_CORE_SCENE_BUBBLE_SHAPE_H_

#include <optional>

#include "core/screen/geometry.h"

namespace sprites {

// A triangle on one side of the box.
struct BubbleTail {
  Edge side = Edge::kBottom;
  double at = 0;  // from the left, or the top, of the box to the tip
  double height = 0;
};

// The distance from a point to a box with round corners; negative inside.
double DistanceToRoundBox(Point point, const Rect& box, double radius);

// The same to a box with its tail.
double DistanceToBubble(Point point, const Rect& box, double radius,
                        const std::optional<BubbleTail>& tail);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCENE_BUBBLE_SHAPE_H_
