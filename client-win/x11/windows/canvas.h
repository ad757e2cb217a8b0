// A picture that the program draws itself: the menu, the bubble, a dialog.
//
// Units: px. Pixels have premultiplied alpha. Cost: O(pixels) for each call.
#ifndef CLIENT_WIN_X11_WINDOWS_CANVAS_H_
#define CLIENT_WIN_X11_WINDOWS_CANVAS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/picture/sheet.h"
#include "core/scene/bubble_shape.h"
#include "x11/windows/fonts.h"

namespace sprites {

struct Colour {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
};

// The colours of everything that the program draws itself.
constexpr Colour kPaper{255, 255, 255};
constexpr Colour kInk{31, 35, 45};
constexpr Colour kFaintInk{104, 110, 124};
constexpr Colour kLineColour{205, 209, 218};
constexpr Colour kChosen{226, 234, 252};
constexpr Colour kAccent{47, 98, 209};
constexpr Colour kWarning{176, 0, 32};

// Whole pixels; right and bottom are not included.
struct Box {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;

  int Width() const { return right - left; }
  int Height() const { return bottom - top; }
  bool Contains(int x, int y) const { return x >= left && x < right && y >= top && y < bottom; }
};

class Canvas {
 public:
  Canvas(int width, int height)
      : width_(width),
        height_(height),
        pixels_(static_cast<size_t>(width) * static_cast<size_t>(height)) {}

  int width() const { return width_; }
  int height() const { return height_; }
  const uint32_t* pixels() const { return pixels_.data(); }

  void Fill(const Box& box, Colour colour);
  // A box with round corners, with a line around it that is `line_width` px wide.
  void FillRound(const Box& box, double radius, Colour colour, Colour line, double line_width);
  // The same with a soft shadow around it, and perhaps with a tail.
  void DrawBubble(const Box& box, double radius, double shadow,
                  const std::optional<BubbleTail>& tail, double line_width);
  // Returns where the pen is after the text. `mark`: the index of the letter to underline.
  int Write(Fonts* fonts, FontSize size, int x, int base_line, std::string_view text, Colour colour,
            int mark = -1);
  // A cell of a sheet, each of its pixels `zoom` px large.
  void DrawCell(const Sheet& sheet, int cell, int x, int y, int zoom);
  // A tick, as large as the box.
  void DrawTick(const Box& box, Colour colour);
  // A small triangle that points to the right.
  void DrawArrow(int x, int middle, int size, Colour colour);

 private:
  void Blend(int x, int y, Colour colour, double alpha);

  int width_;
  int height_;
  std::vector<uint32_t> pixels_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_CANVAS_H_
