// The frames of sprites as they are on the screen: cut out of the sheet, scaled, mirrored, with
// premultiplied alpha. Many frames of a sheet share one surface.
//
// Invariant: there are at most kSurfacesMax surfaces with at most kSurfaceBytesMax bytes, or one
// surface if it alone is larger; the least recently used one goes first. A surface does not keep
// its sheet in memory, and goes when its sheet has gone.
// Cost: O(pixels) for a frame that is not here, else a look-up.
#ifndef CLIENT_WIN_CORE_SCENE_FRAME_ATLAS_H_
#define CLIENT_WIN_CORE_SCENE_FRAME_ATLAS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/scene/scene.h"

namespace sprites {

// Surfaces: a tenth of the 10 000 GDI handles that Windows grants a process.
constexpr size_t kSurfacesMax = 1'000;
constexpr size_t kSurfaceBytesMax = 67'108'864;    // bytes of all: a thousand frames of 128 × 128
constexpr size_t kSurfaceBytesWanted = 1'048'576;  // bytes of one: 16 frames of 128 × 128
constexpr uint8_t kSilhouetteColour[] = {42, 33, 84};  // red, green, blue: as on the page
constexpr double kSilhouetteAlpha = 0.8;

// Memory that the shell can show: 32 bits a pixel, premultiplied alpha, top row first.
class Surface {
 public:
  virtual ~Surface() = default;
  // Null when there is no memory. Valid until the next call of the shell's drawing functions.
  virtual uint32_t* Pixels() = 0;
};

class FrameAtlas {
 public:
  // Returns null when memory is short.
  using MakeSurface = std::function<std::unique_ptr<Surface>(int width, int height)>;

  // A frame is as wide as its surface, from the row `top` on.
  struct Frame {
    Surface* surface = nullptr;  // null when memory is short
    int top = 0;
  };

  explicit FrameAtlas(MakeSurface make_surface) : make_surface_(std::move(make_surface)) {}

  // The frame that shows a sprite. Valid until the next call.
  Frame Find(const DrawnSprite& sprite);
  // Drops the surfaces of sheets that are no longer in memory.
  void DropUnused();

  size_t surfaces() const { return pages_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  // A surface has `number` × the frames that fit and those that follow, in the order of their
  // cells.
  struct Key {
    std::weak_ptr<const Sheet> sheet;
    int width;
    int height;
    bool mirrored;
    bool is_silhouette;
    int opacity;
    int number;

    bool operator<(const Key& other) const;
  };
  struct Page {
    std::unique_ptr<Surface> surface;
    std::vector<bool> is_drawn;  // by frame
    size_t bytes = 0;
    uint64_t used = 0;  // the value of uses_ at the last use
  };
  using Pages = std::map<Key, Page>;

  Page* MakePage(const Key& key, int frames);
  void MakeRoom(size_t bytes);
  void Erase(Pages::iterator page);

  MakeSurface make_surface_;
  Pages pages_;
  size_t bytes_ = 0;
  uint64_t uses_ = 0;
};

// Draws a sprite's whole frame at its size on the screen; each pixel is the nearest pixel of the
// sheet. A silhouette has the alpha of the sheet, times kSilhouetteAlpha, and one colour. All alpha
// is times the opacity.
void DrawFrame(const DrawnSprite& sprite, uint32_t* pixels);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCENE_FRAME_ATLAS_H_
