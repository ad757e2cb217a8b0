// Pictures of kinds only Windows can read (WebP where its codec is installed, TIFF, ICO …).
#ifndef CLIENT_WIN_WIN32_WIC_PICTURE_H_
#define CLIENT_WIN_WIN32_WIC_PICTURE_H_

#include <span>

#include "core/picture.h"

namespace sprites {

// The first frame of it. Sizes are checked before pixels are decoded. Throws PictureRefused when
// Windows has no codec for it. The thread must have COM.
Picture DecodeByWindows(std::span<const uint8_t> bytes);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_WIC_PICTURE_H_
