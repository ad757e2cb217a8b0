// Bitmaps that Windows can show, as surfaces for core/scene/frame_atlas.h.
#ifndef CLIENT_WIN_WIN32_WINDOWS_FRAME_SURFACE_H_
#define CLIENT_WIN_WIN32_WINDOWS_FRAME_SURFACE_H_

#include <windows.h>

#include <memory>

#include "core/scene/frame_atlas.h"
#include "win32/system/owned.h"

namespace sprites {

class FrameSurface : public Surface {
 public:
  // Returns null if memory or GDI handles are short.
  static std::unique_ptr<Surface> Make(int width, int height);

  uint32_t* Pixels() override;
  HBITMAP bitmap() const { return bitmap_.get(); }

 private:
  OwnedBitmap bitmap_;
  uint32_t* pixels_ = nullptr;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_WINDOWS_FRAME_SURFACE_H_
