#include "x11/windows/canvas.h"

#include <algorithm>
#include <cmath>

namespace sprites {

namespace {

constexpr double kShadowAlpha = 0.22;

Rect RectOf(const Box& box) {
  return {static_cast<double>(box.left), static_cast<double>(box.top),
          static_cast<double>(box.right), static_cast<double>(box.bottom)};
}

// How much of a pixel lies inside, by its distance.
double Cover(double distance) { return std::clamp(0.5 - distance, 0.0, 1.0); }

double DistanceToSegment(double x, double y, double x1, double y1, double x2, double y2) {
  const double dx = x2 - x1;
  const double dy = y2 - y1;
  const double part = std::clamp(((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
  return std::hypot(x - x1 - part * dx, y - y1 - part * dy);
}

}  // namespace

void Canvas::Blend(int x, int y, Colour colour, double alpha) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_ || alpha <= 0) {
    return;
  }
  uint32_t& pixel = pixels_[static_cast<size_t>(y) * width_ + x];
  const auto mix = [&](int shift, double over) {
    const double below = pixel >> shift & 255;
    return static_cast<uint32_t>(std::lround(over * alpha + below * (1 - alpha))) << shift;
  };
  pixel = mix(24, 255) | mix(16, colour.red) | mix(8, colour.green) | mix(0, colour.blue);
}

void Canvas::Fill(const Box& box, Colour colour) {
  for (int y = box.top; y < box.bottom; y++) {
    for (int x = box.left; x < box.right; x++) {
      Blend(x, y, colour, 1);
    }
  }
}

void Canvas::FillRound(const Box& box, double radius, Colour colour, Colour line,
                       double line_width) {
  const Rect rect = RectOf(box);
  for (int y = box.top; y < box.bottom; y++) {
    for (int x = box.left; x < box.right; x++) {
      const double distance = DistanceToRoundBox({x + 0.5, y + 0.5}, rect, radius);
      Blend(x, y, line, Cover(distance));
      Blend(x, y, colour, Cover(distance + line_width));
    }
  }
}

void Canvas::DrawBubble(const Box& box, double radius, double shadow,
                        const std::optional<BubbleTail>& tail, double line_width) {
  const Rect rect = RectOf(box);
  for (int y = 0; y < height_; y++) {
    for (int x = 0; x < width_; x++) {
      const auto distance_at = [&](double dy) {
        return DistanceToBubble({x + 0.5, y + 0.5 + dy}, rect, radius, tail);
      };
      const double distance = distance_at(0);
      if (shadow > 0) {
        // The shadow falls down a little, as from a lamp above.
        const double fade = std::clamp(1 - distance_at(-shadow / 4) / shadow, 0.0, 1.0);
        Blend(x, y, {0, 0, 0}, kShadowAlpha * fade * fade * (1 - Cover(distance)));
      }
      Blend(x, y, kLineColour, Cover(distance));
      Blend(x, y, kPaper, Cover(distance + line_width));
    }
  }
}

int Canvas::Write(Fonts* fonts, FontSize size, int x, int base_line, std::string_view text,
                  Colour colour, int mark) {
  int index = 0;
  for (const char32_t letter : LettersOf(text)) {
    const Glyph& glyph = fonts->Find(size, letter);
    for (int row = 0; row < glyph.height; row++) {
      for (int column = 0; column < glyph.width; column++) {
        const uint8_t cover = glyph.cover[static_cast<size_t>(row) * glyph.width + column];
        Blend(x + glyph.left + column, base_line - glyph.top + row, colour, cover / 255.0);
      }
    }
    if (index++ == mark) {
      const int line = std::max(1, size.pixels / 14);
      Fill({x, base_line + 1 + line, x + glyph.advance, base_line + 1 + 2 * line}, colour);
    }
    x += glyph.advance;
  }
  return x;
}

void Canvas::DrawCell(const Sheet& sheet, int cell, int x, int y, int zoom) {
  const int width = sheet.description.frame_width;
  const int height = sheet.description.frame_height;
  const int from_x = cell % sheet.Columns() * width;
  const int from_y = cell / sheet.Columns() * height;
  for (int row = 0; row < height * zoom; row++) {
    for (int column = 0; column < width * zoom; column++) {
      const uint8_t* rgba =
          &sheet.rgba[4 * (static_cast<size_t>(from_y + row / zoom) * sheet.width +
                           static_cast<size_t>(from_x + column / zoom))];
      Blend(x + column, y + row, {rgba[0], rgba[1], rgba[2]}, rgba[3] / 255.0);
    }
  }
}

void Canvas::DrawTick(const Box& box, Colour colour) {
  const double size = box.Height();
  const double thickness = std::max(1.0, size / 12);
  for (int y = box.top; y < box.bottom; y++) {
    for (int x = box.left; x < box.right; x++) {
      const double px = (x + 0.5 - box.left) / size;
      const double py = (y + 0.5 - box.top) / size;
      const double distance = std::min(DistanceToSegment(px, py, 0.15, 0.52, 0.4, 0.76),
                                       DistanceToSegment(px, py, 0.4, 0.76, 0.85, 0.26));
      Blend(x, y, colour, Cover(distance * size - thickness));
    }
  }
}

void Canvas::DrawArrow(int x, int middle, int size, Colour colour) {
  for (int column = 0; column < size; column++) {
    const int half = size - column;
    Fill({x + column, middle - half + 1, x + column + 1, middle + half}, colour);
  }
}

}  // namespace sprites
