// What the desktop says and hears: the line that the person types, and the bubbles of the scene.
#include <algorithm>
#include <utility>

#include "core/desktop/desktop.h"
#include "core/relay/problem_texts.h"

namespace sprites {

namespace {

// The box of a sprite's body on a monitor of this scale.
Rect BoxOf(const Sprite& sprite, double scale) {
  const double half = sprite.nature.width * scale / 2;
  return {sprite.x - half, sprite.y - sprite.nature.height * scale, sprite.x + half, sprite.y};
}

// Room for the tail of a bubble at an edge.
Rect Inset(const Rect& rect, double by) {
  return {rect.left + by, rect.top + by, rect.right - by, rect.bottom - by};
}

}  // namespace

void Desktop::Speak(const std::string& text) {
  if (sayings_.pending()) {
    return;
  }
  const std::string said = SayingText(text);
  if (said.empty()) {
    return;
  }
  speech_.note.clear();
  speech_.unsaid = said;
  if (said.size() > kSayingBytesMax) {
    speech_.note = Said(Text::kSayTooLong, {std::to_string(kSayingBytesMax)});
  } else if (!poller_.seat() || poller_.link() != Link::kConnected) {
    speech_.note = Said(Text::kWhyNotConnected);
  } else {
    sayings_.Add(said);
    speech_.is_pending = true;
    saves_now_ = true;
  }
}

void Desktop::ClearSpeechNote() {
  if (speech_.unsaid.empty()) {
    speech_.note.clear();
  }
}

void Desktop::SendSaying() {
  if (!poller_.seat() || poller_.link() != Link::kConnected) {
    return;
  }
  if (auto request = sayings_.DueRequest(poller_.relay(), *poller_.seat(), now_ms_, &budget_,
                                         &next_request_)) {
    outbox_.requests.push_back(std::move(*request));
  }
}

void Desktop::HandleSayingVerdict(const SayingVerdict& verdict) {
  saves_now_ = true;
  speech_.is_pending = false;
  if (!verdict.accepted) {
    speech_.note = SaySayingProblem(language(), verdict.problem);
    return;
  }
  speech_.accepted++;
  speech_.unsaid.clear();
  speech_.note = !verdict.heard        ? Said(Text::kSayDone)
                 : *verdict.heard == 0 ? Said(Text::kSayNobody)
                 : *verdict.heard == 1 ? Said(Text::kSayOne)
                                       : Said(Text::kSayMany, {std::to_string(*verdict.heard)});
}

// The seat has ended, and with it the relay's memory of what was said from it.
void Desktop::GiveUpSaying() {
  if (sayings_.GiveUp()) {
    speech_.is_pending = false;
    speech_.note = Said(Text::kSayLost);
  }
}

void Desktop::HandleSayings(const Batch& batch) {
  conversation_.Miss(batch.missed, now_ms_);
  for (const Saying& saying : batch.sayings) {
    const bool is_own = poller_.seat() && poller_.seat()->desktop == saying.from.desktop;
    if (is_own || !IsMuted(saying.from)) {
      conversation_.Hear(saying, is_own, now_ms_);
    }
  }
}

bool Desktop::IsMuted(const Neighbour& neighbour) const {
  const auto& muted = settings_.muted;
  return std::ranges::find(muted, neighbour.DisplayName()) != muted.end();
}

// The sprite that a bubble belongs to: the newest one that the speaker threw here, or an own one.
const Sprite* Desktop::SpeakingSprite(const HeardBubble& bubble) const {
  const Sprite* selected = bubble.is_own ? simulation_.Find(selected_) : nullptr;
  if (selected != nullptr) {
    return selected;
  }
  const Sprite* newest = nullptr;
  for (const Sprite& sprite : simulation_.sprites()) {
    const Neighbour* sender = SenderOf(sprite.id);
    const bool is_of_speaker =
        bubble.is_own ? sender == nullptr
                      : sender != nullptr && sender->desktop == bubble.saying.from.desktop;
    if (is_of_speaker && (newest == nullptr || sprite.id > newest->id)) {
      newest = &sprite;
    }
  }
  return newest;
}

// The edge that a bubble without a sprite belongs to; nothing for a speaker who is nowhere near.
std::optional<Edge> Desktop::SpeakersEdge(const HeardBubble& bubble) const {
  if (bubble.is_own) {
    return Edge::kBottom;
  }
  if (bubble.saying.edge || !neighbours_) {
    return bubble.saying.edge;
  }
  for (size_t i = 0; i < neighbours_->size(); i++) {
    if ((*neighbours_)[i].desktop == bubble.saying.from.desktop) {
      return static_cast<Edge>(i);
    }
  }
  return std::nullopt;
}

void Desktop::DrawBubbles() {
  conversation_.Expire(now_ms_);
  scene_.bubbles.clear();
  scene_.obstacles.clear();
  if (!settings_.bubbles || IsQuiet()) {
    return;
  }
  const Screen& screen = simulation_.screen();
  if (const Sprite* held = simulation_.Find(simulation_.held())) {
    scene_.obstacles.push_back(BoxOf(*held, screen.monitors()[held->monitor].scale));
  }
  const auto& bubbles = conversation_.bubbles();
  for (auto bubble = bubbles.rbegin(); bubble != bubbles.rend(); ++bubble) {
    const Sprite* sprite = SpeakingSprite(*bubble);
    const std::optional<Edge> edge = SpeakersEdge(*bubble);
    const size_t index = sprite != nullptr ? sprite->monitor : screen.PrimaryMonitor();
    const bool is_covered = index < covered_.size() && covered_[index];
    if (settings_.hide_in_full_screen && is_covered) {
      continue;
    }
    const Monitor& monitor = screen.monitors()[index];
    DrawnBubble drawn;
    drawn.id = bubble->id;
    drawn.name = bubble->is_own ? "" : bubble->saying.from.DisplayName();
    drawn.text = bubble->saying.text;
    drawn.post.room = Inset(monitor.work, kBubbleGap * monitor.scale);
    drawn.post.scale = monitor.scale;
    drawn.post.edge = edge.value_or(Edge::kTop);
    drawn.post.has_tail_at_edge = edge.has_value() && !bubble->is_own;
    if (sprite != nullptr) {
      drawn.post.sprite = BoxOf(*sprite, monitor.scale);
    }
    scene_.bubbles.push_back(std::move(drawn));
  }
}

}  // namespace sprites
