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
  const auto places = Prepare(scene);
  for (size_t i = 0; i < places.size(); i++) {
    if (places[i]) {
      shown_[i].window->Show({places[i]->box.left, places[i]->box.top}, TailOf(*places[i]));
    } else {
      shown_[i].window->Hide();
    }
  }
}

std::vector<PaintedBubble> SayingBubbles::Paint(const Scene& scene) {
  const auto places = Prepare(scene);
  std::vector<PaintedBubble> painted;
  for (size_t i = 0; i < places.size(); i++) {
    if (places[i]) {
      painted.push_back(
          shown_[i].window->Paint({places[i]->box.left, places[i]->box.top}, TailOf(*places[i])));
    }
  }
  return painted;
}

// Makes a window for each bubble of a scene. Returns where they are.
std::vector<std::optional<BubblePlace>> SayingBubbles::Prepare(const Scene& scene) {
  std::vector<Shown> shown;
  std::vector<PlacedBubble> bubbles;
  for (const DrawnBubble& drawn : scene.bubbles) {
    shown.push_back(FindOrMake(drawn));
    bubbles.push_back({drawn.post, shown.back().size});
  }
  shown_ = std::move(shown);  // those that are not in the scene any more end here
  return PlaceBubbles(bubbles, scene.obstacles);
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
    shown.window = std::make_unique<BubbleWindow>(look_, title_, clicked_);
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
  const double room = std::min<double>(look_->Px(width_max_), drawn.post.room.Width());
  shown->scale = look_->scale;
  // The tail needs room between two round corners.
  shown->size =
      shown->window->SetTexts(texts, kPadding, static_cast<int>(room), look_->Px(2 * kTailInset));
}

std::optional<BubbleTail> SayingBubbles::TailOf(const BubblePlace& place) const {
  return place.tail ? std::optional(BubbleTail{*place.tail, place.tail_at,
                                               static_cast<double>(look_->Px(kTail))})
                    : std::nullopt;
}

}  // namespace sprites
