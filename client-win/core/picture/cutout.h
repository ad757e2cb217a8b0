// Cuts a still picture out of its background, by its colours, and off what is empty around it.
//
// An area is background if it touches the picture's edge and has about one of the usual colours of
// the edge. So a white shirt before a white wall stays, as long as something lies between them. The
// rules are those of server/web/pictures/cutout.ts and trim.ts; cutout.vectors.json is played with
// both. Cost: O(pixels), some bytes for each.
#ifndef CLIENT_WIN_CORE_PICTURE_CUTOUT_H_
#define CLIENT_WIN_CORE_PICTURE_CUTOUT_H_

#include <cstdint>
#include <optional>
#include <span>

#include "core/picture/picture.h"

namespace sprites {

constexpr int kPhotoSide = 640;  // pixels of a photograph's longer side: it is scaled down to that
constexpr int64_t kDrawnPixelsMax = 2'097'152;  // of a PNG: a larger one is a photograph

// Whether this picture of this file is a photograph, not something drawn pixel by pixel.
bool IsPhoto(std::span<const uint8_t> file, const Picture& picture);

// The picture without its background. Nothing when it has none: it is an animation, or a part is
// transparent already, or nothing would be removed, or everything.
std::optional<Picture> WithoutBackground(const Picture& picture, bool is_photo);

// The smallest box that holds what is seen in any frame; nothing when nothing is.
std::optional<Box> ContentBox(const Picture& picture);
// All frames without what is outside of their common box. REQUIRES: a pixel is visible.
Picture Trimmed(const Picture& picture);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_CUTOUT_H_
