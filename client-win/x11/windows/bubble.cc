#include "x11/windows/bubble.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "x11/system/event.h"

namespace sprites {

namespace {

// Sizes in dip.
constexpr double kPadding = 12;
constexpr double kRadius = 9;
constexpr double kTail = 9;  // height of the tail, and half of its width
constexpr double kShadow = 10;
constexpr double kTextWidthMax = 320;
constexpr double kCornerGap = 12;

}  // namespace

Bubble::Bubble(const XConnection* connection, const Look* look, const std::string& title,
               std::function<void()> clicked)
    : look_(look), panel_(connection, PanelKind::kBubble, title), clicked_(std::move(clicked)) {}

void Bubble::ShowAbove(const std::string& text, Point point) {
  const int shadow = look_->is_composited ? look_->Px(kShadow) : 0;
  const int padding = look_->Px(kPadding);
  const auto lines = look_->fonts->Wrapped(look_->Text(), text, look_->Px(kTextWidthMax));
  const FontMetrics metrics = look_->fonts->MetricsOf(look_->Text());
  int text_width = 0;
  for (const std::string& line : lines) {
    text_width = std::max(text_width, look_->fonts->WidthOf(look_->Text(), line));
  }
  const int line_height = metrics.LineHeight() + look_->Px(3);
  const Box box{shadow, shadow, shadow + text_width + 2 * padding,
                shadow + static_cast<int>(lines.size()) * line_height + 2 * padding};
  const int width = box.right + shadow;
  const int height = box.bottom + look_->Px(kTail) + shadow;
  const int x = static_cast<int>(point.x);
  const int y = static_cast<int>(point.y);
  const Rect work = look_->WorkAt(point);
  const auto within = [](int value, double low, double high) {
    return std::clamp(value, static_cast<int>(low),
                      std::max(static_cast<int>(low), static_cast<int>(high)));
  };
  const int left = within(x - width / 2, work.left - shadow, work.right - width + shadow);
  const int top = within(y - height + shadow, work.top - shadow, work.bottom - height + shadow);
  // Beside an edge of the monitor, the tail still points at the sprite.
  const int margin = shadow + look_->Px(kRadius + kTail);
  const int tail = std::clamp(x - left, margin, std::max(margin, width - margin));
  const bool is_same =
      panel_.is_shown() && text == text_ && tail == tail_ && scale_ == look_->scale;
  if (is_same) {
    panel_.Move(left, top);
    return;
  }
  text_ = text;
  tail_ = tail;
  scale_ = look_->scale;
  Canvas canvas(width, height);
  const BubbleTail down{Edge::kBottom, static_cast<double>(tail - box.left),
                        static_cast<double>(look_->Px(kTail))};
  canvas.DrawBubble(box, look_->Px(kRadius), shadow, down, look_->Px(1));
  for (size_t i = 0; i < lines.size(); i++) {
    canvas.Write(look_->fonts, look_->Text(), box.left + padding,
                 box.top + padding + static_cast<int>(i) * line_height + metrics.ascent, lines[i],
                 kInk);
  }
  panel_.Show(canvas, left, top);
}

void Bubble::ShowInCorner(const std::string& heading, const std::string& text) {
  const int shadow = look_->is_composited ? look_->Px(kShadow) : 0;
  const int padding = look_->Px(kPadding);
  const FontSize bold{look_->Px(14), Weight::kBold};
  const int text_width = look_->Px(kTextWidthMax);
  const auto headings = look_->fonts->Wrapped(bold, heading, text_width);
  const auto lines = text.empty() ? std::vector<std::string>{}
                                  : look_->fonts->Wrapped(look_->Small(), text, text_width);
  const FontMetrics bold_metrics = look_->fonts->MetricsOf(bold);
  const FontMetrics metrics = look_->fonts->MetricsOf(look_->Small());
  const int bold_height = bold_metrics.LineHeight() + look_->Px(2);
  const int line_height = metrics.LineHeight() + look_->Px(2);
  const Box box{shadow, shadow, shadow + text_width + 2 * padding,
                shadow + 2 * padding + static_cast<int>(headings.size()) * bold_height +
                    static_cast<int>(lines.size()) * line_height};
  Canvas canvas(box.right + shadow, box.bottom + shadow);
  canvas.DrawBubble(box, look_->is_composited ? look_->Px(kRadius) : 0, shadow, std::nullopt,
                    look_->Px(1));
  int y = box.top + padding;
  for (const std::string& line : headings) {
    canvas.Write(look_->fonts, bold, box.left + padding, y + bold_metrics.ascent, line, kInk);
    y += bold_height;
  }
  for (const std::string& line : lines) {
    canvas.Write(look_->fonts, look_->Small(), box.left + padding, y + metrics.ascent, line,
                 kFaintInk);
    y += line_height;
  }
  const Rect work = look_->PrimaryWork();
  const int gap = look_->Px(kCornerGap) - shadow;
  text_.clear();
  panel_.Show(canvas, static_cast<int>(work.right) - canvas.width() - gap,
              static_cast<int>(work.top) + gap);
}

void Bubble::Hide() {
  panel_.Hide();
  text_.clear();
}

bool Bubble::HandleEvent(const xcb_generic_event_t& event) {
  const uint8_t type = TypeOfEvent(event);
  if (type != XCB_BUTTON_PRESS && type != XCB_BUTTON_RELEASE) {
    return false;
  }
  const auto& button = As<xcb_button_press_event_t>(event);
  if (button.event != panel_.window()) {
    return false;
  }
  if (type == XCB_BUTTON_RELEASE) {
    clicked_();
  }
  return true;
}

}  // namespace sprites
