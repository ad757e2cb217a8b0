// Still pictures of a person's own: PNG and BMP, decoded by stb behind a fence.
//
// stb believes what a file says of itself: it takes memory for a chunk before it looks for its
// bytes, and inflates as far as it goes. So a file's own words are held against its limits first.
// Invariant: a picture takes as much memory as its checked size allows, whatever the file says.
// JPEG is left to the shell: stb's reader of Huffman tables writes beyond their end.
// Cost: up to 16 bytes a pixel while it is decoded.
#ifndef CLIENT_WIN_CORE_PICTURE_STILL_H_
#define CLIENT_WIN_CORE_PICTURE_STILL_H_

#include <cstdint>
#include <span>

#include "core/picture/picture.h"

namespace sprites {

// A picture of one frame. Throws PictureUnknown when it is of another kind, else PictureRefused.
Picture DecodeStill(std::span<const uint8_t> bytes, size_t pixels_max);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_STILL_H_
