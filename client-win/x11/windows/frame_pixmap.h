// Pixmaps of the X server with the frames of sprites, as surfaces for core/scene/frame_atlas.h.
//
// A frame is sent to the server once, when it is first shown; from then on, showing it is one copy
// within the server. Cost: the pixels twice, here and there.
#ifndef CLIENT_WIN_X11_WINDOWS_FRAME_PIXMAP_H_
#define CLIENT_WIN_X11_WINDOWS_FRAME_PIXMAP_H_

#include <xcb/xcb.h>
#include <xcb/xfixes.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/scene/frame_atlas.h"
#include "x11/system/x_connection.h"

namespace sprites {

class FramePixmap : public Surface {
 public:
  // Null when a side is longer than X allows.
  static std::unique_ptr<Surface> Make(const XConnection* connection, int width, int height);
  ~FramePixmap() override;
  FramePixmap(const FramePixmap&) = delete;
  FramePixmap& operator=(const FramePixmap&) = delete;

  uint32_t* Pixels() override { return pixels_.data(); }
  xcb_pixmap_t pixmap() const { return pixmap_; }
  // The opaque part of the frame from the row `top` on, relative to the frame. Sends the frame to
  // the server if it is not there yet.
  xcb_xfixes_region_t Send(int top, int height, xcb_gcontext_t context);

 private:
  FramePixmap(const XConnection* connection, int width, int height);

  const XConnection* connection_;
  int width_;
  std::vector<uint32_t> pixels_;
  xcb_pixmap_t pixmap_;
  std::map<int, xcb_xfixes_region_t> sent_;  // by `top`
};

constexpr uint32_t kOpaqueMin = 64;  // of 255: a pixel with less alpha passes clicks through
// Rectangles of a window's shape: drawn characters need a hundred. A stranger's picture could have
// millions, which the server would have to look through at each move of the pointer, and which are
// more than one request can hold: that ends the connection.
constexpr size_t kShapePartsMax = 4'096;

// The parts of a frame that take clicks, as rectangles: equal rows in a row are one. With more than
// kShapePartsMax parts, each row is one part, from its first opaque pixel to its last.
std::vector<xcb_rectangle_t> OpaqueParts(const uint32_t* pixels, int width, int height);

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_FRAME_PIXMAP_H_
