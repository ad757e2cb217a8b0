#include "x11/windows/saying_bubbles.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sprites {

namespace {

// Sizes in dip.
constexpr double kPaddingX = 12;
constexpr double kPaddingY = 8;
constexpr double kRadius = 9;
constexpr double kTail = 7;  // height of the tail: less than the gap that it is in
constexpr double kShadow = 10;
constexpr double kLineGap = 2;
constexpr double kNameSize = 12;

int Rounded(double value) { return static_cast<int>(std::lround(value)); }

}  // namespace

SayingBubbles::SayingBubbles(const XConnection* connection, const Look* look)
    : connection_(connection), look_(look) {}

FontSize SayingBubbles::NameSize() const { return {look_->Px(kNameSize), Weight::kBold}; }

void SayingBubbles::Show(const Scene& scene) {
  std::vector<std::unique_ptr<Shown>> shown;
  std::vector<PlacedBubble> bubbles;
  for (const DrawnBubble& drawn : scene.bubbles) {
    shown.push_back(FindOrMake(drawn));
    bubbles.push_back({drawn.post, shown.back()->size});
  }
  shown_ = std::move(shown);  // those that are not in the scene any more end here
  const auto places = PlaceBubbles(bubbles, scene.obstacles);
  for (size_t i = 0; i < places.size(); i++) {
    if (places[i]) {
      Place(*places[i], shown_[i].get());
    } else {
      shown_[i]->panel->Hide();
      shown_[i]->is_painted = false;
    }
  }
}

void SayingBubbles::Raise() const {
  for (const auto& shown : shown_) {
    shown->panel->Raise();
  }
}

std::unique_ptr<SayingBubbles::Shown> SayingBubbles::FindOrMake(const DrawnBubble& drawn) {
  const auto found = std::ranges::find_if(
      shown_, [&](const auto& shown) { return shown != nullptr && shown->id == drawn.id; });
  std::unique_ptr<Shown> shown;
  if (found != shown_.end()) {
    shown = std::move(*found);
  } else {
    shown = std::make_unique<Shown>();
    shown->id = drawn.id;
    shown->panel = std::make_unique<Panel>(connection_, PanelKind::kSaying, "Sprites saying");
  }
  if (shown->scale != look_->scale || shown->is_composited != look_->is_composited) {
    Measure(drawn, shown.get());
  }
  return shown;
}

void SayingBubbles::Measure(const DrawnBubble& drawn, Shown* shown) const {
  Fonts* fonts = look_->fonts;
  shown->scale = look_->scale;
  shown->is_composited = look_->is_composited;
  shown->is_painted = false;
  const double room = drawn.post.room.Width();
  const int width = static_cast<int>(std::min<double>(look_->Px(kBubbleWidthMax), room)) -
                    2 * look_->Px(kPaddingX);
  shown->names.clear();
  if (!drawn.name.empty()) {
    shown->names = fonts->Wrapped(NameSize(), drawn.name, std::max(1, width));
  }
  shown->lines = fonts->Wrapped(look_->Text(), drawn.text, std::max(1, width));
  int text_width = 0;
  for (const std::string& line : shown->names) {
    text_width = std::max(text_width, fonts->WidthOf(NameSize(), line));
  }
  for (const std::string& line : shown->lines) {
    text_width = std::max(text_width, fonts->WidthOf(look_->Text(), line));
  }
  const int gap = look_->Px(kLineGap);
  const int name_height = fonts->MetricsOf(NameSize()).LineHeight() + gap;
  const int line_height = fonts->MetricsOf(look_->Text()).LineHeight() + gap;
  // The tail needs room between two round corners.
  const int width_min = look_->Px(2 * kTailInset);
  shown->size.width = std::max(width_min, text_width + 2 * look_->Px(kPaddingX));
  shown->size.height = static_cast<double>(shown->names.size()) * name_height +
                       static_cast<double>(shown->lines.size()) * line_height +
                       2 * look_->Px(kPaddingY);
}

void SayingBubbles::Place(const BubblePlace& place, Shown* shown) const {
  const bool is_same_picture = shown->is_painted && place.tail == shown->place.tail &&
                               Rounded(place.tail_at) == Rounded(shown->place.tail_at);
  shown->place = place;
  if (!is_same_picture) {
    Paint(shown);
    return;
  }
  const int margin = look_->is_composited ? look_->Px(kShadow) : 0;
  shown->panel->Move(Rounded(place.box.left) - margin, Rounded(place.box.top) - margin);
}

// Without a compositor a window is a box: then there is neither a shadow nor a tail.
void SayingBubbles::Paint(Shown* shown) const {
  Fonts* fonts = look_->fonts;
  const bool has_alpha = look_->is_composited;
  const int margin = has_alpha ? look_->Px(kShadow) : 0;
  const Box box{margin, margin, margin + Rounded(shown->size.width),
                margin + Rounded(shown->size.height)};
  std::optional<BubbleTail> tail;
  if (has_alpha && shown->place.tail) {
    tail =
        BubbleTail{*shown->place.tail, shown->place.tail_at, static_cast<double>(look_->Px(kTail))};
  }
  Canvas canvas(box.right + margin, box.bottom + margin);
  canvas.DrawBubble(box, has_alpha ? look_->Px(kRadius) : 0, margin, tail, look_->Px(1));
  const int x = box.left + look_->Px(kPaddingX);
  int y = box.top + look_->Px(kPaddingY);
  const auto write = [&](const std::vector<std::string>& lines, FontSize size, Colour ink) {
    const FontMetrics metrics = fonts->MetricsOf(size);
    for (const std::string& line : lines) {
      canvas.Write(fonts, size, x, y + metrics.ascent, line, ink);
      y += metrics.LineHeight() + look_->Px(kLineGap);
    }
  };
  write(shown->names, NameSize(), kAccent);
  write(shown->lines, look_->Text(), kInk);
  shown->panel->Show(canvas, Rounded(shown->place.box.left) - margin,
                     Rounded(shown->place.box.top) - margin);
  shown->is_painted = true;
}

}  // namespace sprites
