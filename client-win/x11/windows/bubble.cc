#include "x11/windows/bubble.h"

#include <utility>

namespace sprites {

namespace {

// Sizes in dip.
constexpr BubblePadding kPadding{12, 12};
constexpr double kTail = 7;  // height of the tail: less than the gap that it is in
constexpr double kWidthMax = 344;
constexpr double kCornerGap = 12;
constexpr double kSmall = 13;

}  // namespace

Bubble::Bubble(const Look* look, const std::string& title, std::function<void()> clicked)
    : look_(look), window_(look, title, std::move(clicked)) {}

void Bubble::ShowBeside(const DrawnBubble& bubble) {
  if (bubble.text != text_ || scale_ != look_->scale) {
    text_ = bubble.text;
    scale_ = look_->scale;
    size_ = window_.SetTexts({{text_}}, kPadding, look_->Px(kWidthMax));
  }
  const PlacedBubble placed{bubble.post, size_};
  const BubblePlace place = *PlaceBubbles({&placed, 1}, {}).front();
  std::optional<BubbleTail> tail;
  if (place.tail) {
    tail = BubbleTail{*place.tail, place.tail_at, static_cast<double>(look_->Px(kTail))};
  }
  window_.Show({place.box.left, place.box.top}, tail);
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
