#include "core/scene/shadow.h"

#include <algorithm>
#include <cmath>

namespace sprites {

namespace {

constexpr uint8_t kShadowColour[] = {20, 16, 49};  // red, green, blue: as on the page
constexpr double kShadowAlpha = 0.4;               // in the middle, with the feet on the ground
constexpr double kHalfWayAlpha = 0.6;              // of that, half way to the rim
// Of the hitbox's width, at the reach, and how much more on the ground.
constexpr double kWidthFar = 0.7;
constexpr double kWidthMore = 0.6;
// Dip: likewise its height.
constexpr double kHeightFar = 7;
constexpr double kHeightMore = 5;
constexpr int kWidthStepPixels = 4;  // widths are whole numbers of them, so that sprites share some

// How dark a shadow is, from 1 in the middle to 0 at the rim and outside.
double Darkness(double from_middle) {
  if (from_middle >= 1) {
    return 0;
  }
  return from_middle < 0.5 ? 1 - (1 - kHalfWayAlpha) * 2 * from_middle
                           : kHalfWayAlpha * 2 * (1 - from_middle);
}

// One column of cells, the darkest first. Each shadow is in the middle of its cell.
SheetPointer ShadowSheet(int width, int height) {
  auto sheet = NewColumn("Shadow", width, height, kShadowSteps);
  for (int cell = 0; cell < kShadowSteps; cell++) {
    const double near = static_cast<double>(kShadowSteps - cell) / kShadowSteps;
    const double across = width / 2.0 * (kWidthFar + kWidthMore * near) / (kWidthFar + kWidthMore);
    const double down =
        height / 2.0 * (kHeightFar + kHeightMore * near) / (kHeightFar + kHeightMore);
    for (int y = 0; y < height; y++) {
      for (int x = 0; x < width; x++) {
        const double from_middle =
            std::hypot((x + 0.5 - width / 2.0) / across, (y + 0.5 - height / 2.0) / down);
        const double alpha = kShadowAlpha * near * Darkness(from_middle);
        sheet->rgba.insert(sheet->rgba.end(), {kShadowColour[0], kShadowColour[1], kShadowColour[2],
                                               static_cast<uint8_t>(std::lround(alpha * 255))});
      }
    }
  }
  return sheet;
}

}  // namespace

std::optional<DrawnSprite> DrawShadow(const Sprite& sprite, const Ledge& ground,
                                      const Monitor& monitor, OwnSheets* sheets) {
  const double height_dip = std::max(0.0, ground.y - sprite.y) / monitor.scale;
  const bool touches_wall = sprite.mode == Mode::kClimb || sprite.mode == Mode::kHang;
  if (height_dip >= kShadowReach || touches_wall) {
    return std::nullopt;
  }
  const double near = 1 - height_dip / kShadowReach;
  const double wanted = sprite.nature.width * (kWidthFar + kWidthMore) * monitor.scale;
  DrawnSprite drawn;
  drawn.id = sprite.id;
  drawn.width =
      kWidthStepPixels * std::max(1, static_cast<int>(std::lround(wanted / kWidthStepPixels)));
  drawn.height =
      std::max(1, static_cast<int>(std::lround((kHeightFar + kHeightMore) * monitor.scale)));
  const int sheet_width = std::min(drawn.width, kShadowDrawnPixelsMax);
  const int height = drawn.height;
  drawn.sheet =
      sheets->Find({sheet_width, height}, [=] { return ShadowSheet(sheet_width, height); });
  drawn.cell = std::min(kShadowSteps - 1, static_cast<int>((1 - near) * kShadowSteps));
  drawn.x = static_cast<int>(std::lround(sprite.x)) - drawn.width / 2;
  drawn.y = static_cast<int>(std::lround(ground.y - monitor.scale)) - drawn.height / 2;
  const auto px = [](double value) { return static_cast<int>(std::lround(value)); };
  const int left = std::max({drawn.x, px(ground.left), px(monitor.bounds.left)});
  const int right = std::min({drawn.x + drawn.width, px(ground.right), px(monitor.bounds.right)});
  const int bottom = std::min(drawn.y + drawn.height, px(monitor.bounds.bottom));
  if (left >= right || drawn.y >= bottom) {
    return std::nullopt;
  }
  const Crop shown{left - drawn.x, 0, right - left, bottom - drawn.y};
  if (shown != Crop{0, 0, drawn.width, drawn.height}) {
    drawn.crop = shown;
  }
  return drawn;
}

}  // namespace sprites
