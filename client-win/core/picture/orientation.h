// How a camera was held: a photograph that lies on its side says so, and is put upright.
//
// A JPEG's pixels come from codecs that leave them as the camera wrote them. Cost: O(bytes before
// the pixels); turning makes one copy. Source: Exif 2.32, 4.5 and 4.6.4 (tag 274).
#ifndef CLIENT_WIN_CORE_PICTURE_ORIENTATION_H_
#define CLIENT_WIN_CORE_PICTURE_ORIENTATION_H_

#include <cstdint>
#include <span>

#include "core/picture/picture.h"

namespace sprites {

// 1 to 8 as Exif counts them; 1, upright, also of what is no JPEG, says nothing, or makes no sense.
int OrientationOf(std::span<const uint8_t> jpeg);

// The picture as it is to be seen. REQUIRES: an orientation of 1 to 8.
Picture Upright(Picture picture, int orientation);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_ORIENTATION_H_
