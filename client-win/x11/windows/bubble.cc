#include "x11/windows/bubble.h"

#include <algorithm>
#include <utility>

namespace sprites {

namespace {

// Sizes in dip.
constexpr BubblePadding kPadding{12, 12};
constexpr double kTail = 9;  // height of the tail, and half of its width
constexpr double kWidthMax = 344;
constexpr double kCornerGap = 12;
constexpr double kSmall = 13;

}  // namespace

Bubble::Bubble(const Look* look, const std::string& title, std::function<void()> clicked)
    : look_(look), window_(look, title, std::move(clicked)) {}

void Bubble::ShowAbove(const std::string& text, Point point) {
  if (text != text_ || scale_ != look_->scale) {
    text_ = text;
    scale_ = look_->scale;
    size_ = window_.SetTexts({{text}}, kPadding, look_->Px(kWidthMax));
  }
  const double tail = look_->Px(kTail);
  const Rect work = look_->WorkAt(point);
  const auto within = [](double value, double low, double high) {
    return std::clamp(value, low, std::max(low, high));
  };
  const Point corner{within(point.x - size_.width / 2, work.left, work.right - size_.width),
                     within(point.y - tail - size_.height, work.top, work.bottom - size_.height)};
  // Beside an edge of the monitor, the tail still points at the sprite.
  const double inset = look_->Px(kBubbleRadius) + tail;
  window_.Show(corner, BubbleTail{Edge::kBottom,
                                  within(point.x - corner.x, inset, size_.width - inset), tail});
}

void Bubble::ShowInCorner(const std::string& heading, const std::string& text) {
  std::vector<BubbleText> texts{{heading, 14, true}};
  if (!text.empty()) {
    texts.push_back({text, kSmall, false, Ink::kFaint});
  }
  const BubbleSize size = window_.SetTexts(texts, kPadding, look_->Px(kWidthMax));
  const Rect work = look_->PrimaryWork();
  const double gap = look_->Px(kCornerGap);
  window_.Show({work.right - size.width - gap, work.top + gap}, std::nullopt);
}

void Bubble::Hide() {
  window_.Hide();
  text_.clear();
}

}  // namespace sprites
