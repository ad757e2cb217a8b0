// Decodes the person's own photographs, JPEG, with libjpeg-turbo, and turns them upright.
//
// Invariant: the size in the header is checked before memory for pixels is allocated, and a file
// with more than 500 scans is rejected, because each scan may repeat the whole picture. A large
// photograph is read at 1/2, 1/4 or 1/8 of its size, because a sprite has 128 pixels a side at
// most. Cost: up to 6 bytes a pixel of a progressive file while it decodes, and 4 a pixel of the
// result.
#ifndef CLIENT_WIN_POSIX_PHOTO_H_
#define CLIENT_WIN_POSIX_PHOTO_H_

#include <cstdint>
#include <span>

#include "core/picture/picture.h"

namespace sprites {

// Pixels of the longer side. A picture with less is read whole, and a larger one keeps at least so
// many: four times what a sprite has, so it can still be scaled down smoothly.
constexpr int kPhotoSideMin = 512;

// Returns a picture of one frame. Throws PictureUnknown for another kind of file, else
// PictureRefused.
Picture DecodePhoto(std::span<const uint8_t> bytes, size_t pixels_max = kPicturePixelsMax);

}  // namespace sprites

#endif  // CLIENT_WIN_POSIX_PHOTO_H_
