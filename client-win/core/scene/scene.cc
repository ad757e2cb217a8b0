#include "core/scene/scene.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/motion/behaviour.h"

namespace sprites {

Crop DrawnSprite::Covered() const {
  const Crop shown = Shown();
  if (!under) {
    return shown;
  }
  const Crop& other = under->shown;
  const int left = std::min(shown.x, other.x);
  const int top = std::min(shown.y, other.y);
  return {left, top, std::max(shown.x + shown.width, other.x + other.width) - left,
          std::max(shown.y + shown.height, other.y + other.height) - top};
}

double PixelScale(double scale, bool whole) {
  return whole && scale > 1 ? std::round(scale) : scale;
}

DrawnSprite Draw(const Sprite& sprite, const SheetPointer& sheet, const Monitor& monitor,
                 double user_scale, bool whole_pixels, double now_ms) {
  const Description& description = sheet->description;
  const double scale =
      PixelScale(ShownScale(description, sprite.scale) * user_scale * monitor.scale, whole_pixels);
  DrawnSprite drawn;
  drawn.id = sprite.id;
  drawn.sheet = sheet;
  drawn.mirrored = sprite.facing == Facing::kLeft;
  drawn.cell = CellOf(description, AnimationOf(sprite), now_ms - sprite.since_ms);
  drawn.width = std::max(1, static_cast<int>(std::lround(description.frame_width * scale)));
  drawn.height = std::max(1, static_cast<int>(std::lround(description.frame_height * scale)));
  const auto& [left, top, width, height] = description.hitbox;
  const double middle = left + width / 2.0;
  const double inset = drawn.mirrored ? description.frame_width - middle : middle;
  drawn.x = static_cast<int>(std::lround(sprite.x - inset * scale));
  drawn.y = static_cast<int>(std::lround(sprite.y - (top + height) * scale));
  return drawn;
}

double NextCellMs(const Sheet& sheet, const Sprite& sprite, double now_ms) {
  const Animation& animation = PlayedFor(sheet.description, AnimationOf(sprite));
  if (animation.frames.size() < 2) {
    return std::numeric_limits<double>::max();
  }
  const double period = 1000 / animation.fps;
  return period - std::fmod(std::max(0.0, now_ms - sprite.since_ms), period);
}

}  // namespace sprites
