#include "x11/windows/saying_bubbles.h"

#include <algorithm>
#include <utility>

namespace sprites {

namespace {

// Sizes in dip.
constexpr BubblePadding kPadding{12, 8};
constexpr double kTail = 7;  // height of the tail: less than the gap that it is in
constexpr double kNameSize = 12;

}  // namespace

void SayingBubbles::Show(const Scene& scene) {
  std::vector<Shown> shown;
  std::vector<PlacedBubble> bubbles;
  for (const DrawnBubble& drawn : scene.bubbles) {
    shown.push_back(FindOrMake(drawn));
    bubbles.push_back({drawn.post, shown.back().size});
  }
  shown_ = std::move(shown);  // those that are not in the scene any more end here
  const auto places = PlaceBubbles(bubbles, scene.obstacles);
  for (size_t i = 0; i < places.size(); i++) {
    if (places[i]) {
      Place(*places[i], shown_[i]);
    } else {
      shown_[i].window->Hide();
    }
  }
}

void SayingBubbles::Raise() const {
  for (const Shown& shown : shown_) {
    shown.window->Raise();
  }
}

SayingBubbles::Shown SayingBubbles::FindOrMake(const DrawnBubble& drawn) {
  const auto found = std::ranges::find_if(
      shown_, [&](const Shown& shown) { return shown.window != nullptr && shown.id == drawn.id; });
  Shown shown;
  if (found != shown_.end()) {
    shown = std::move(*found);
  } else {
    shown.id = drawn.id;
    shown.window = std::make_unique<BubbleWindow>(look_, "Sprites saying");
  }
  if (shown.scale != look_->scale) {
    Measure(drawn, &shown);
  }
  return shown;
}

void SayingBubbles::Measure(const DrawnBubble& drawn, Shown* shown) const {
  std::vector<BubbleText> texts;
  if (!drawn.name.empty()) {
    texts.push_back({drawn.name, kNameSize, true, Ink::kAccent});
  }
  texts.push_back({drawn.text});
  const double room = std::min<double>(look_->Px(kBubbleWidthMax), drawn.post.room.Width());
  shown->scale = look_->scale;
  // The tail needs room between two round corners.
  shown->size =
      shown->window->SetTexts(texts, kPadding, static_cast<int>(room), look_->Px(2 * kTailInset));
}

void SayingBubbles::Place(const BubblePlace& place, const Shown& shown) const {
  std::optional<BubbleTail> tail;
  if (place.tail) {
    tail = BubbleTail{*place.tail, place.tail_at, static_cast<double>(look_->Px(kTail))};
  }
  shown.window->Show({place.box.left, place.box.top}, tail);
}

}  // namespace sprites
