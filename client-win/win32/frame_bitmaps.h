// A cache of sprite frames in the form Windows draws: cut out of the sheet, scaled, mirrored, with
// premultiplied alpha.
//
// Invariant: between frames the cache holds at most kFrameBytesMax bytes, or what the last frame
// used if that is more; the least recently used bitmaps are evicted first.
// Cost: O(pixels) for a bitmap that is not in the cache, else a look-up.
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
  // Returns the bitmap of a sprite's frame: 32 bits per pixel, premultiplied alpha, top row first.
  // Null if memory is short. Valid until EndFrame.
  HBITMAP Find(const DrawnSprite& sprite);
  // Call when all sprites of a frame are drawn: evicts bitmaps if there are too many.
  void EndFrame();

 private:
  struct FrameKey {
    SheetPointer sheet;  // owned, so that no other sheet gets the same address
    int cell;
    int width;
    int height;
    bool mirrored;

    auto operator<=>(const FrameKey&) const = default;
  };
  struct Frame {
    OwnedBitmap bitmap;
    size_t bytes;
    uint64_t used;  // the value of now_ when it was last drawn
  };

  std::map<FrameKey, Frame> frames_;
  size_t bytes_ = 0;
  uint64_t now_ = 1;  // counts EndFrame
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_FRAME_BITMAPS_H_
