#include "x11/windows/text_field.h"

#include <xkbcommon/xkbcommon-keysyms.h>

#include <algorithm>

#include "core/text/text.h"

namespace sprites {

namespace {

// Sizes in dip.
constexpr double kPadding = 12;
constexpr double kFieldRadius = 6;

}  // namespace

void TextField::Add(std::string_view text) {
  text_ += PlainText(text, bytes_max_ - std::min(bytes_max_, text_.size()));
}

Edit TextField::HandleKey(const Keyboard::Stroke& stroke, Clipboard* clipboard) {
  const bool is_v = stroke.symbol == XKB_KEY_v || stroke.symbol == XKB_KEY_V;
  if (stroke.symbol == XKB_KEY_Insert || (stroke.has_control && is_v)) {
    clipboard->Ask();
    return Edit::kPaste;
  }
  const std::string before = text_;
  if (stroke.symbol == XKB_KEY_BackSpace) {
    while (!text_.empty()) {
      const bool is_first_byte = IsFirstByte(text_.back());
      text_.pop_back();
      if (is_first_byte) {
        break;
      }
    }
  } else if (!stroke.has_control) {
    Add(stroke.text);
  } else if (stroke.symbol == XKB_KEY_u || stroke.symbol == XKB_KEY_a) {
    text_.clear();
  }
  return text_ == before ? Edit::kNothing : Edit::kText;
}

void TextField::Draw(Canvas* canvas, const Look& look, const Box& box, bool has_focus,
                     const std::string& cue) const {
  Fonts* fonts = look.fonts;
  const FontMetrics metrics = fonts->MetricsOf(look.Text());
  canvas->FillRound(box, look.Px(kFieldRadius), kPaper, has_focus ? kAccent : kLineColour,
                    look.Px(has_focus ? 2 : 1));
  const int x = box.left + look.Px(kPadding);
  const int base_line = (box.top + box.bottom + metrics.ascent - metrics.descent) / 2;
  const int room = box.Width() - 2 * look.Px(kPadding);
  // The end of a long text is what the person is typing.
  std::string shown = text_;
  while (fonts->WidthOf(look.Text(), shown) > room) {
    size_t first = 1;
    while (first < shown.size() && !IsFirstByte(shown[first])) {
      first++;
    }
    shown.erase(0, first);
  }
  const int end = canvas->Write(fonts, look.Text(), x, base_line, shown, kInk);
  if (text_.empty()) {
    canvas->Write(fonts, look.Text(), x + look.Px(2), base_line, cue, kFaintInk);
  }
  if (has_focus) {
    canvas->Fill({end, base_line - metrics.ascent, end + look.Px(1), base_line + metrics.descent},
                 kInk);
  }
}

}  // namespace sprites
