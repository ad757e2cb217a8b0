// Decodes GIF: every frame complete, drawn over what the one before it left, as browsers do.
//
// This is not left to stb, because its disposal of frames reads memory that it has freed.
// Invariant: the blocks of a file are walked and counted before memory is allocated for a frame;
// nothing is read beyond the file or drawn outside the screen. A file that is cut off or damaged
// shows the frames before that point. Cost: O(bytes + pixels drawn); memory for the screen, for
// what a frame hides, and for the frames that are kept. Source: GIF89a specification, appendices B
// and F.
#ifndef CLIENT_WIN_CORE_PICTURE_GIF_H_
#define CLIENT_WIN_CORE_PICTURE_GIF_H_

#include <cstdint>
#include <span>

#include "core/picture/picture.h"

namespace sprites {

// times `pixels_max`: pixels that all frames together may draw. A minute of small changes to a
// large screen is far below it; a tiny file that unpacks to billions of pixels is above it.
constexpr size_t kGifDrawnMax = 4;

// Whether the file starts with the signature of a GIF.
bool IsGif(std::span<const uint8_t> bytes);

// Keeps at most kPictureFramesMax frames, of longer animations every nth, and adds the delays of
// the frames it leaves out. As in browsers, a delay of at most 10 ms becomes 100 ms. Throws
// PictureRefused.
Picture DecodeGif(std::span<const uint8_t> bytes, size_t pixels_max);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_GIF_H_
