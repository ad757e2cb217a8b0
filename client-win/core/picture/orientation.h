// Turns photographs upright: a JPEG says how the camera was held.
//
// Codecs return a JPEG's pixels as the camera wrote them. Cost: O(bytes before the pixels); turning
// makes one copy. Source: Exif 2.32, 4.5 and 4.6.4 (tag 274).
#ifndef CLIENT_WIN_CORE_PICTURE_ORIENTATION_H_
#define CLIENT_WIN_CORE_PICTURE_ORIENTATION_H_

#include <cstdint>
#include <span>

#include "core/picture/picture.h"

namespace sprites {

// The orientation as Exif counts it, 1 to 8. 1, upright, when `jpeg` is not a JPEG, is damaged, or
// has no valid orientation.
int OrientationOf(std::span<const uint8_t> jpeg);

// The picture turned upright. REQUIRES: an orientation of 1 to 8.
Picture Upright(Picture picture, int orientation);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_ORIENTATION_H_
