// Pictures of kinds the core does not know: JPEG, TIFF, ICO, WebP where its codec is installed …
//
// Windows has a decoder for each, and keeps it in repair; these are the person's own files alone.
#ifndef CLIENT_WIN_WIN32_WIC_PICTURE_H_
#define CLIENT_WIN_WIN32_WIC_PICTURE_H_

#include <span>

#include "core/picture/picture.h"

namespace sprites {

// The largest frame of it. Sizes are checked before pixels are decoded. Throws PictureUnknown when
// Windows has no codec for it, else PictureRefused. The thread must have COM.
Picture DecodeByWindows(std::span<const uint8_t> bytes);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_WIC_PICTURE_H_
