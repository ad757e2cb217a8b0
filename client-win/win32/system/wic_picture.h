// Decodes picture formats that the core does not know: JPEG, TIFF, ICO, WebP if its codec is
// installed …
//
// Uses the codecs of Windows, which Windows Update maintains. Only for the user's own files, never
// for files from the relay.
#ifndef CLIENT_WIN_WIN32_SYSTEM_WIC_PICTURE_H_
#define CLIENT_WIN_WIN32_SYSTEM_WIC_PICTURE_H_

#include <span>

#include "core/picture/picture.h"

namespace sprites {

// Returns the largest frame of the picture. Checks its size before it decodes pixels. Throws
// PictureUnknown if Windows has no codec for the format, PictureRefused for any other failure.
// REQUIRES: COM is initialised on this thread.
Picture DecodeByWindows(std::span<const uint8_t> bytes);

// The same for a picture that a camera may have turned, on any thread.
Picture DecodeUprightByWindows(std::span<const uint8_t> bytes);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_WIC_PICTURE_H_
