#include "core/scene/composition.h"

#include <algorithm>

#include "core/scene/dust.h"

namespace sprites {

namespace {

Crop Shifted(const Crop& crop, int x, int y) {
  return {crop.x + x, crop.y + y, crop.width, crop.height};
}

// The picture below a sprite as one of its own, at the same place.
DrawnSprite PictureBelow(const DrawnSprite& sprite) {
  const Underlay& under = *sprite.under;
  DrawnSprite drawn;
  drawn.sheet = under.sheet;
  drawn.cell = under.cell;
  drawn.opacity = under.opacity;
  drawn.x = sprite.x + under.frame.x;
  drawn.y = sprite.y + under.frame.y;
  drawn.width = under.frame.width;
  drawn.height = under.frame.height;
  drawn.crop = Shifted(under.shown, -under.frame.x, -under.frame.y);
  return drawn;
}

// Draws what is shown of a frame over what is there. `left` and `top`: where the pixels begin.
bool DrawOver(const DrawnSprite& drawn, FrameAtlas* atlas, int left, int top, uint32_t* pixels,
              int pitch) {
  const FrameAtlas::Frame frame = atlas->Find(drawn);
  const uint32_t* from = frame.surface == nullptr ? nullptr : frame.surface->Pixels();
  if (from == nullptr) {
    return false;
  }
  const Crop shown = drawn.Shown();
  for (int y = shown.y; y < shown.y + shown.height; y++) {
    const uint32_t* row = from + size_t(frame.top + y) * size_t(drawn.width) + shown.x;
    uint32_t* to = pixels + size_t(drawn.y + y - top) * size_t(pitch) + (drawn.x + shown.x - left);
    for (int x = 0; x < shown.width; x++) {
      to[x] = Over(row[x], to[x]);
    }
  }
  return true;
}

}  // namespace

uint32_t Over(uint32_t above, uint32_t below) {
  const uint32_t rest = 255 - (above >> 24);
  if (rest == 0 || below == 0) {
    return above;
  }
  uint32_t mixed = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    const uint32_t part = (above >> shift & 255) + ((below >> shift & 255) * rest + 127) / 255;
    mixed |= std::min<uint32_t>(part, 255) << shift;
  }
  return mixed;
}

void Compose(const Scene& scene, Composition* composition) {
  composition->sprites = scene.sprites;
  composition->dust.clear();
  // Shadows are in the order of their sprites.
  auto sprite = composition->sprites.begin();
  for (const DrawnSprite& low : scene.ground) {
    if (low.id >= kFirstPuff) {
      composition->dust.push_back(low);
      continue;
    }
    sprite = std::ranges::find(sprite, composition->sprites.end(), low.id, &DrawnSprite::id);
    if (sprite == composition->sprites.end()) {
      return;
    }
    const int x = low.x - sprite->x;
    const int y = low.y - sprite->y;
    sprite->under = Underlay{low.sheet, low.cell, low.opacity, Crop{x, y, low.width, low.height},
                             Shifted(low.Shown(), x, y)};
  }
}

bool DrawComposed(const DrawnSprite& sprite, FrameAtlas* atlas, uint32_t* pixels, int pitch) {
  const Crop covered = sprite.Covered();
  for (int y = 0; y < covered.height; y++) {
    std::fill_n(pixels + size_t(y) * size_t(pitch), covered.width, 0);
  }
  const bool has_shadow = !sprite.under || DrawOver(PictureBelow(sprite), atlas, sprite.Left(),
                                                    sprite.Top(), pixels, pitch);
  return has_shadow && DrawOver(sprite, atlas, sprite.Left(), sprite.Top(), pixels, pitch);
}

bool IsOnSprite(const DrawnSprite& sprite, int x, int y, FrameAtlas* atlas) {
  const Crop shown = Shifted(sprite.Shown(), sprite.x, sprite.y);
  if (x < shown.x || x >= shown.x + shown.width || y < shown.y || y >= shown.y + shown.height) {
    return false;
  }
  const FrameAtlas::Frame frame = atlas->Find(sprite);
  const uint32_t* pixels = frame.surface == nullptr ? nullptr : frame.surface->Pixels();
  // Without memory for the picture, the whole box counts.
  return pixels == nullptr ||
         pixels[size_t(frame.top + y - sprite.y) * size_t(sprite.width) + size_t(x - sprite.x)] >>
             24 > 0;
}

}  // namespace sprites
