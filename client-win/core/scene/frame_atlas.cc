#include "core/scene/frame_atlas.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace sprites {

namespace {

uint32_t Premultiplied(const uint8_t* rgba, uint32_t opacity) {
  const uint32_t alpha = (rgba[3] * opacity + kOpacityMax / 2) / kOpacityMax;
  const auto times_alpha = [alpha](uint32_t part) { return (part * alpha + 127) / 255; };
  return alpha << 24 | times_alpha(rgba[0]) << 16 | times_alpha(rgba[1]) << 8 |
         times_alpha(rgba[2]);
}

uint32_t SilhouetteOf(const uint8_t* rgba, uint32_t opacity) {
  const uint8_t pixel[] = {kSilhouetteColour[0], kSilhouetteColour[1], kSilhouetteColour[2],
                           static_cast<uint8_t>(std::lround(rgba[3] * kSilhouetteAlpha))};
  return Premultiplied(pixel, opacity);
}

size_t FrameBytes(int width, int height) { return size_t{4} * width * height; }

int CellsOf(const Sheet& sheet) {
  return sheet.Columns() * (sheet.height / sheet.description.frame_height);
}

}  // namespace

bool FrameAtlas::Key::operator<(const Key& other) const {
  if (sheet.owner_before(other.sheet) || other.sheet.owner_before(sheet)) {
    return sheet.owner_before(other.sheet);
  }
  return std::tie(width, height, mirrored, is_silhouette, opacity, number) <
         std::tie(other.width, other.height, other.mirrored, other.is_silhouette, other.opacity,
                  other.number);
}

FrameAtlas::Frame FrameAtlas::Find(const DrawnSprite& sprite) {
  const size_t frame_bytes = FrameBytes(sprite.width, sprite.height);
  const int frames = static_cast<int>(std::max<size_t>(1, kSurfaceBytesWanted / frame_bytes));
  const int number = sprite.cell / frames;
  const int index = sprite.cell % frames;
  const Key key{sprite.sheet,         sprite.width,   sprite.height, sprite.mirrored,
                sprite.is_silhouette, sprite.opacity, number};
  const auto found = pages_.find(key);
  const int left_cells = std::max(1, CellsOf(*sprite.sheet) - number * frames);
  Page* page = found != pages_.end() ? &found->second : MakePage(key, std::min(frames, left_cells));
  if (page == nullptr || static_cast<size_t>(index) >= page->is_drawn.size()) {
    return {};
  }
  page->used = ++uses_;
  const int top = index * sprite.height;
  if (!page->is_drawn[static_cast<size_t>(index)]) {
    uint32_t* pixels = page->surface->Pixels();
    if (pixels == nullptr) {
      return {};
    }
    DrawFrame(sprite, pixels + size_t(top) * size_t(sprite.width));
    page->is_drawn[static_cast<size_t>(index)] = true;
  }
  return {page->surface.get(), top};
}

void FrameAtlas::DropUnused() {
  for (auto page = pages_.begin(); page != pages_.end();) {
    const auto next = std::next(page);
    if (page->first.sheet.expired()) {
      Erase(page);
    }
    page = next;
  }
}

FrameAtlas::Page* FrameAtlas::MakePage(const Key& key, int frames) {
  const size_t bytes = FrameBytes(key.width, key.height) * static_cast<size_t>(frames);
  MakeRoom(bytes);
  Page page{make_surface_(key.width, key.height * frames),
            std::vector<bool>(static_cast<size_t>(frames), false), bytes, 0};
  if (page.surface == nullptr) {
    return nullptr;
  }
  bytes_ += bytes;
  return &pages_.emplace(key, std::move(page)).first->second;
}

// Drops surfaces, the least recently used first, until one more of so many bytes fits.
void FrameAtlas::MakeRoom(size_t bytes) {
  const auto fits = [&] {
    return pages_.empty() || (pages_.size() < kSurfacesMax && bytes_ + bytes <= kSurfaceBytesMax);
  };
  if (fits()) {
    return;
  }
  DropUnused();
  std::vector<Pages::iterator> by_use;
  for (auto page = pages_.begin(); page != pages_.end(); ++page) {
    by_use.push_back(page);
  }
  std::ranges::sort(by_use, {}, [](const auto& page) { return page->second.used; });
  for (const auto& page : by_use) {
    if (fits()) {
      return;
    }
    Erase(page);
  }
}

void FrameAtlas::Erase(Pages::iterator page) {
  bytes_ -= page->second.bytes;
  pages_.erase(page);
}

void DrawFrame(const DrawnSprite& sprite, uint32_t* pixels) {
  const Sheet& sheet = *sprite.sheet;
  const auto opacity = static_cast<uint32_t>(sprite.opacity);
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
      const uint8_t* rgba = row + size_t{4} * from_x;
      *pixels++ = sprite.is_silhouette ? SilhouetteOf(rgba, opacity) : Premultiplied(rgba, opacity);
    }
  }
}

}  // namespace sprites
