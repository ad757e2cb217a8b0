#include "x11/windows/button.h"

#include <algorithm>

namespace sprites {

namespace {

constexpr double kCornerRadius = 6;  // dip
constexpr Colour kAccentHovered{36, 79, 178};

}  // namespace

Box DrawButton(Canvas* canvas, const Look& look, const Button& button, const ButtonSize& size,
               int right, int top) {
  const FontMetrics text = look.fonts->MetricsOf(look.Text());
  const int label_width = look.fonts->WidthOf(look.Text(), button.label);
  const int width = std::max(look.Px(size.width_min), label_width + 2 * look.Px(size.padding));
  const Box box{right - width, top, right, top + look.Px(size.height)};
  const Colour fill = button.is_main ? (button.is_hovered ? kAccentHovered : kAccent)
                                     : (button.is_hovered ? kChosen : kPaper);
  const Colour line = button.has_focus ? kInk : button.is_main ? kAccent : kLineColour;
  canvas->FillRound(box, look.Px(kCornerRadius), fill, line, look.Px(button.has_focus ? 2 : 1));
  canvas->Write(look.fonts, look.Text(), (box.left + box.right - label_width) / 2,
                (box.top + box.bottom + text.ascent - text.descent) / 2, button.label,
                button.is_main ? kPaper : kInk);
  return box;
}

}  // namespace sprites
