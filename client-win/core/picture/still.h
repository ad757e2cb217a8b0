// Decodes the person's own still pictures, PNG and BMP, with stb.
//
// stb trusts a file: it allocates a chunk before it looks for its bytes, and inflates without a
// limit. So the file is checked first. Invariant: decoding takes no more memory than the checked
// size of the picture allows, whatever the file claims. JPEG is left to the shell, because stb's
// reader of Huffman tables writes beyond their end. Cost: up to 16 bytes a pixel while it decodes.
#ifndef CLIENT_WIN_CORE_PICTURE_STILL_H_
#define CLIENT_WIN_CORE_PICTURE_STILL_H_

#include <cstdint>
#include <span>

#include "core/picture/picture.h"

namespace sprites {

// Returns a picture of one frame. Throws PictureUnknown for another kind of file, else
// PictureRefused.
Picture DecodeStill(std::span<const uint8_t> bytes, size_t pixels_max);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_STILL_H_
