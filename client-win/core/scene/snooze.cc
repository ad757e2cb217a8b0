#include "core/scene/snooze.h"

#include <cmath>

namespace sprites {

namespace {

constexpr uint8_t kColour[] = {124, 108, 255, 230};  // red, green, blue, alpha: as on the page
constexpr double kWidth = 26;                        // dip
constexpr double kHeight = 30;
constexpr double kThick = 1.6;  // dip: of a stroke

// Where a letter is, and its side, in dip: they rise to the right, and grow.
struct Letter {
  double x;
  double y;
  double side;
};
constexpr Letter kLetters[] = {{0, 23, 6}, {6, 13, 8}, {14, 1, 10}};

// Whether a point of a letter's square is inked: two bars, and the diagonal between them.
bool IsInked(double x, double y, double side) {
  if (x < 0 || y < 0 || x >= side || y >= side) {
    return false;
  }
  const double from_diagonal = std::abs(x + y - side);
  return y < kThick || y >= side - kThick || from_diagonal < kThick;
}

SheetPointer Letters(double scale, int width, int height) {
  auto sheet = NewColumn("Snooze", width, height, 1);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      bool is_inked = false;
      for (const Letter& letter : kLetters) {
        is_inked = is_inked || IsInked((x + 0.5) / scale - letter.x, (y + 0.5) / scale - letter.y,
                                       letter.side);
      }
      for (const uint8_t channel : kColour) {
        sheet->rgba.push_back(is_inked ? channel : 0);
      }
    }
  }
  return sheet;
}

}  // namespace

DrawnSprite DrawSnooze(const Sprite& sprite, const Monitor& monitor, OwnSheets* sheets) {
  const double scale = monitor.scale;
  DrawnSprite drawn;
  drawn.id = kFirstSnooze + sprite.id % 0x8000;
  drawn.width = static_cast<int>(std::ceil(kWidth * scale));
  drawn.height = static_cast<int>(std::ceil(kHeight * scale));
  drawn.sheet = sheets->Find({drawn.width, drawn.height},
                             [&] { return Letters(scale, drawn.width, drawn.height); });
  drawn.x = static_cast<int>(std::lround(sprite.x + sprite.nature.width * scale / 4));
  drawn.y = static_cast<int>(std::lround(sprite.y - sprite.nature.height * scale)) - drawn.height;
  return drawn;
}

}  // namespace sprites
