#include "core/scene/bubble_shape.h"

#include <algorithm>
#include <cmath>

namespace sprites {

namespace {

// The foot of a tail is a pixel inside the box, so that there is no gap.
double DistanceToTail(Point point, const Rect& box, const BubbleTail& tail) {
  const double along = IsSide(tail.side) ? point.y - box.top : point.x - box.left;
  const double out = tail.side == Edge::kLeft    ? box.left + 1 - point.x
                     : tail.side == Edge::kRight ? point.x - box.right + 1
                     : tail.side == Edge::kTop   ? box.top + 1 - point.y
                                                 : point.y - box.bottom + 1;
  const double flank = std::abs(along - tail.at) - (tail.height - out);
  return std::max({flank * std::sqrt(0.5), out - tail.height, -2 - out});
}

}  // namespace

double DistanceToRoundBox(Point point, const Rect& box, double radius) {
  const double dx = std::abs(point.x - (box.left + box.right) / 2) - (box.Width() / 2 - radius);
  const double dy = std::abs(point.y - (box.top + box.bottom) / 2) - (box.Height() / 2 - radius);
  const double outside = std::hypot(std::max(dx, 0.0), std::max(dy, 0.0));
  return outside + std::min(std::max(dx, dy), 0.0) - radius;
}

double DistanceToBubble(Point point, const Rect& box, double radius,
                        const std::optional<BubbleTail>& tail) {
  const double to_box = DistanceToRoundBox(point, box, radius);
  return tail ? std::min(to_box, DistanceToTail(point, box, *tail)) : to_box;
}

}  // namespace sprites
