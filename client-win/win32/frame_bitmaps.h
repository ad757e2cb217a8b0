// Frames as Windows draws them: cut out of the sheet once, scaled, mirrored, alpha multiplied in.
//
// Invariant: at most kFrameBytesMax bytes of them, or those of the current frame if these are more;
// the longest unused go first. Cost: O(pixels) for a frame seen for the first time, else a look-up.
#ifndef CLIENT_WIN_WIN32_FRAME_BITMAPS_H_
#define CLIENT_WIN_WIN32_FRAME_BITMAPS_H_

#include <compare>
#include <cstdint>
#include <map>

#include "core/scene/scene.h"
#include "win32/owned.h"

namespace sprites {

constexpr size_t kFrameBytesMax = 67'108'864;  // bytes: a thousand frames of 128 × 128

class FrameBitmaps {
 public:
  // The bitmap of this frame: 32 bits a pixel, premultiplied, top down; null without memory for it.
  // Valid until EndFrame.
  HBITMAP Of(const DrawnSprite& sprite);
  // All of this frame are drawn: what has been unused longest may go.
  void EndFrame();

 private:
  struct FrameKey {
    SheetPointer sheet;  // keeps it alive, so that its address stays its own
    int cell;
    int width;
    int height;
    bool mirrored;

    auto operator<=>(const FrameKey&) const = default;
  };
  struct Frame {
    OwnedBitmap bitmap;
    size_t bytes;
    uint64_t used;
  };

  std::map<FrameKey, Frame> frames_;
  size_t bytes_ = 0;
  uint64_t now_ = 1;  // frames drawn
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_FRAME_BITMAPS_H_
