#include "win32/windows/frame_surface.h"

namespace sprites {

std::unique_ptr<Surface> FrameSurface::Make(int width, int height) {
  const BITMAPINFO header = BitmapFormat(width, height);
  void* pixels = nullptr;
  auto surface = std::make_unique<FrameSurface>();
  surface->bitmap_.reset(CreateDIBSection(nullptr, &header, DIB_RGB_COLORS, &pixels, nullptr, 0));
  surface->pixels_ = static_cast<uint32_t*>(pixels);
  return surface->bitmap_ == nullptr ? nullptr : std::move(surface);
}

// Windows may still read the bitmap until GdiFlush has returned.
uint32_t* FrameSurface::Pixels() {
  GdiFlush();
  return pixels_;
}

}  // namespace sprites
