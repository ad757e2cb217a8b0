// Whether a person clicked a sprite, or dragged it.
#ifndef CLIENT_WIN_CORE_MOTION_CLICK_H_
#define CLIENT_WIN_CORE_MOTION_CLICK_H_

#include <cmath>

#include "core/screen/geometry.h"

namespace sprites {

// A button was pressed and released at almost the same point: at most so many px apart to the side,
// and up or down.
inline bool IsClick(Point pressed, Point released, double across_max, double down_max) {
  return std::abs(released.x - pressed.x) <= across_max &&
         std::abs(released.y - pressed.y) <= down_max;
}

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_MOTION_CLICK_H_
