#include "win32/windows/parade.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "win32/system/owned.h"

namespace sprites {

namespace {

constexpr int kTallestPixels = 32;      // of a character's cell
constexpr double kHillFraction = 0.24;  // of the height
constexpr double kFillFraction = 0.62;  // of the height: the tallest character

struct Colour {
  double red;
  double green;
  double blue;
};
constexpr Colour kSkyTop{43, 58, 103};
constexpr Colour kSkyLow{232, 168, 124};
constexpr Colour kHill{55, 73, 107};
constexpr Colour kBack{95, 96, 136};

Colour Mixed(const Colour& one, const Colour& other, double part) {
  const auto mix = [part](double a, double b) { return a + (b - a) * part; };
  return {mix(one.red, other.red), mix(one.green, other.green), mix(one.blue, other.blue)};
}

uint32_t Packed(const Colour& colour) {
  const auto byte = [](double value) {
    return static_cast<uint32_t>(std::clamp(std::lround(value), 0L, 255L));
  };
  return byte(colour.red) << 16 | byte(colour.green) << 8 | byte(colour.blue);
}

// The pixels of the picture, row by row from the top.
class Canvas {
 public:
  Canvas(int width, int height)
      : width_(width), height_(height), pixels_(static_cast<size_t>(width) * height) {}

  void DrawSky() {
    for (int y = 0; y < height_; y++) {
      for (int x = 0; x < width_; x++) {
        const double across = static_cast<double>(x) / width_;
        const double back = Ground() - height_ * (0.10 + 0.07 * std::sin(across * 9 + 1));
        const double hill = Ground() - height_ * 0.03 * std::sin(across * 7);
        const Colour sky = Mixed(kSkyTop, kSkyLow, static_cast<double>(y) / height_);
        At(x, y) = Packed(y >= hill ? kHill : y >= back ? kBack : sky);
      }
    }
  }

  int Ground() const { return static_cast<int>(height_ * (1 - kHillFraction)); }

  // Draws a character whose feet are on the hill, with its middle at `middle`.
  void Draw(const Sheet& sheet, int middle, int zoom) {
    const int cell = CellOf(sheet.description, Mode::kIdle, 0);
    const int frame_width = sheet.description.frame_width;
    const int frame_height = sheet.description.frame_height;
    const int from_x = cell % sheet.Columns() * frame_width;
    const int from_y = cell / sheet.Columns() * frame_height;
    const int left = middle - frame_width * zoom / 2;
    const int foot = (sheet.description.hitbox[1] + sheet.description.hitbox[3]) * zoom;
    const int top = Ground() + height_ / 24 - foot;
    for (int y = 0; y < frame_height * zoom; y++) {
      for (int x = 0; x < frame_width * zoom; x++) {
        const size_t at = 4 * (static_cast<size_t>(from_y + y / zoom) * sheet.width +
                               static_cast<size_t>(from_x + x / zoom));
        Blend(left + x, top + y, &sheet.rgba[at]);
      }
    }
  }

  const uint32_t* pixels() const { return pixels_.data(); }

 private:
  uint32_t& At(int x, int y) { return pixels_[static_cast<size_t>(y) * width_ + x]; }

  void Blend(int x, int y, const uint8_t* rgba) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_ || rgba[3] == 0) {
      return;
    }
    const uint32_t below = At(x, y);
    const auto mix = [alpha = rgba[3]](uint32_t under, uint32_t over) {
      return (under * (255u - alpha) + over * alpha) / 255u;
    };
    At(x, y) = mix(below >> 16 & 255, rgba[0]) << 16 | mix(below >> 8 & 255, rgba[1]) << 8 |
               mix(below & 255, rgba[2]);
  }

  int width_;
  int height_;
  std::vector<uint32_t> pixels_;
};

}  // namespace

void PaintParade(HDC canvas, const RECT& rect, std::span<const SheetPointer> sheets) {
  const int width = rect.right - rect.left;
  const int height = rect.bottom - rect.top;
  if (width <= 0 || height <= 0) {
    return;
  }
  Canvas picture(width, height);
  picture.DrawSky();
  const int zoom = std::max(1, static_cast<int>(height * kFillFraction) / kTallestPixels);
  for (size_t i = 0; i < sheets.size(); i++) {
    const double part = (static_cast<double>(i) + 1) / (static_cast<double>(sheets.size()) + 1);
    picture.Draw(*sheets[i], static_cast<int>(part * width), zoom);
  }
  const BITMAPINFO about = BitmapFormat(width, height);
  SetDIBitsToDevice(canvas, rect.left, rect.top, static_cast<DWORD>(width),
                    static_cast<DWORD>(height), 0, 0, 0, static_cast<UINT>(height),
                    picture.pixels(), &about, DIB_RGB_COLORS);
}

}  // namespace sprites
