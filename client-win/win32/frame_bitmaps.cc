#include "win32/frame_bitmaps.h"

#include <algorithm>
#include <vector>

namespace sprites {

namespace {

uint32_t Premultiplied(const uint8_t* rgba) {
  const uint32_t alpha = rgba[3];
  const auto times_alpha = [alpha](uint32_t part) { return (part * alpha + 127) / 255; };
  return alpha << 24 | times_alpha(rgba[0]) << 16 | times_alpha(rgba[1]) << 8 |
         times_alpha(rgba[2]);
}

// Draws the frame at its size on the screen; each pixel is the nearest pixel of the sheet.
void Draw(const DrawnSprite& sprite, uint32_t* pixels) {
  const Sheet& sheet = *sprite.sheet;
  const int frame_width = sheet.description.frame_width;
  const int frame_height = sheet.description.frame_height;
  const int left = sprite.cell % sheet.Columns() * frame_width;
  const int top = sprite.cell / sheet.Columns() * frame_height;
  for (int y = 0; y < sprite.height; y++) {
    const int from_y = top + static_cast<int>(int64_t{y} * frame_height / sprite.height);
    const uint8_t* row = sheet.rgba.data() + size_t{4} * from_y * sheet.width;
    for (int x = 0; x < sprite.width; x++) {
      const int unmirrored_x = sprite.mirrored ? sprite.width - 1 - x : x;
      const int from_x =
          left + static_cast<int>(int64_t{unmirrored_x} * frame_width / sprite.width);
      *pixels++ = Premultiplied(row + size_t{4} * from_x);
    }
  }
}

OwnedBitmap MakeBitmap(const DrawnSprite& sprite) {
  BITMAPINFO header{};
  header.bmiHeader.biSize = sizeof header.bmiHeader;
  header.bmiHeader.biWidth = sprite.width;
  header.bmiHeader.biHeight = -sprite.height;  // top down
  header.bmiHeader.biPlanes = 1;
  header.bmiHeader.biBitCount = 32;
  header.bmiHeader.biCompression = BI_RGB;
  void* pixels = nullptr;
  OwnedBitmap bitmap(CreateDIBSection(nullptr, &header, DIB_RGB_COLORS, &pixels, nullptr, 0));
  if (bitmap != nullptr) {
    Draw(sprite, static_cast<uint32_t*>(pixels));
    GdiFlush();
  }
  return bitmap;
}

}  // namespace

HBITMAP FrameBitmaps::Find(const DrawnSprite& sprite) {
  const FrameKey key{sprite.sheet, sprite.cell, sprite.width, sprite.height, sprite.mirrored};
  auto found = frames_.find(key);
  if (found == frames_.end()) {
    OwnedBitmap bitmap = MakeBitmap(sprite);
    if (bitmap == nullptr) {
      return nullptr;
    }
    const size_t bytes = size_t{4} * sprite.width * sprite.height;
    bytes_ += bytes;
    found = frames_.emplace(key, Frame{std::move(bitmap), bytes, now_}).first;
  }
  found->second.used = now_;
  return found->second.bitmap.get();
}

void FrameBitmaps::EndFrame() {
  now_++;
  if (bytes_ <= kFrameBytesMax) {
    return;
  }
  std::vector<std::pair<uint64_t, const FrameKey*>> by_use;
  for (const auto& [key, frame] : frames_) {
    if (frame.used + 1 < now_) {
      by_use.emplace_back(frame.used, &key);
    }
  }
  std::ranges::sort(by_use);
  for (const auto& [used, key] : by_use) {
    if (bytes_ <= kFrameBytesMax / 2) {
      return;  // half is free again, so that evictions are rare
    }
    const auto frame = frames_.find(*key);
    bytes_ -= frame->second.bytes;
    frames_.erase(frame);
  }
}

}  // namespace sprites
