// GIF: every frame whole, drawn over what the one before it left, as browsers do.
//
// Read here and not by stb, whose way of disposing of frames reads memory it has given back.
// Invariant: a file's blocks are walked and counted before memory is taken for a frame; nothing is
// read beyond the file, nothing drawn outside the screen. A file that is cut off or damaged shows
// what came before. Cost: O(bytes + pixels drawn); memory for the screen, what a frame hides, and
// the frames that are kept.
// Source: GIF89a specification, appendices B and F.
#ifndef CLIENT_WIN_CORE_PICTURE_GIF_H_
#define CLIENT_WIN_CORE_PICTURE_GIF_H_

#include <cstdint>
#include <span>

#include "core/picture/picture.h"

namespace sprites {

// times `pixels_max`: what all frames together may draw. A minute of small changes to a large
// screen is far below it; tiny files that unpack to billions of pixels are above.
constexpr size_t kGifDrawnMax = 4;

// Whether the file begins as a GIF does.
bool IsGif(std::span<const uint8_t> bytes);

// At most kPictureFramesMax frames, every nth of longer ones, each shown as long as those that are
// left out with it. Delays as browsers take them: of 10 ms and less none was meant, it is 100 ms.
// Throws PictureRefused.
Picture DecodeGif(std::span<const uint8_t> bytes, size_t pixels_max);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_GIF_H_
