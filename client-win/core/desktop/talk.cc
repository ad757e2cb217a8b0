#include "core/desktop/talk.h"

#include <algorithm>
#include <utility>

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

void Talk::Speak(const std::string& text) {
  const std::string said = SayingText(text);
  if (speech_.is_pending || said.empty()) {
    return;
  }
  speech_.note.clear();
  speech_.unsaid = said;
  if (sayings_.pending()) {
    speech_.note = context_.Said(Text::kSayTooFast);  // a reaction has no answer yet
  } else if (said.size() > kSayingBytesMax) {
    speech_.note = context_.Said(Text::kSayTooLong, {std::to_string(kSayingBytesMax)});
  } else if (context_.relay.ConnectedSeat() == nullptr) {
    speech_.note = context_.Said(Text::kWhyNotConnected);
  } else {
    sayings_.Add(said);
    speech_.is_pending = true;
    context_.saves_now = true;
  }
}

void Talk::React(size_t reaction) {
  if (sayings_.pending() || context_.relay.ConnectedSeat() == nullptr ||
      context_.now_ms - reaction_ms_ < rules::kReactionGapMs) {
    return;
  }
  reaction_ms_ = context_.now_ms;
  sayings_.Add(std::string(rules::kReactions[reaction]));
  context_.saves_now = true;
}

void Talk::ClearNote() {
  if (speech_.unsaid.empty()) {
    speech_.note.clear();
  }
}

void Talk::Send() {
  context_.Send(sayings_.DueRequest(context_.now_ms, &context_.budget), Until::kSeatEnds,
                [this](const Response& response) {
                  if (const auto verdict =
                          sayings_.HandleResponse(response, context_.now_ms, context_.random)) {
                    HandleVerdict(*verdict);
                  }
                });
}

void Talk::Restore(SavedState* state) {
  sayings_.set_next_number(state->next_saying);
  if (state->saying) {
    speech_.is_pending = true;
    speech_.unsaid = state->saying->text;
    sayings_.Restore(std::move(*state->saying));
  }
}

void Talk::SaveTo(SavedState* state) const {
  state->next_saying = sayings_.next_number();
  state->saying = sayings_.pending();
}

void Talk::HandleVerdict(const SayingVerdict& verdict) {
  context_.saves_now = true;
  if (!speech_.is_pending) {  // it is a reaction
    if (!verdict.accepted) {
      context_.ShowNotice(Text::kToastNotSaid, SayProblem(context_.language(), verdict.problem));
    }
    return;
  }
  speech_.is_pending = false;
  if (!verdict.accepted) {
    speech_.note = SaySayingProblem(context_.language(), verdict.problem);
    return;
  }
  speech_.accepted++;
  speech_.unsaid.clear();
  speech_.note = !verdict.heard        ? context_.Said(Text::kSayDone)
                 : *verdict.heard == 0 ? context_.Said(Text::kSayNobody)
                 : *verdict.heard == 1
                     ? context_.Said(Text::kSayOne)
                     : context_.Said(Text::kSayMany, {std::to_string(*verdict.heard)});
}

// The seat has ended, and with it the relay's memory of what was said from it.
void Talk::GiveUp() {
  if (sayings_.GiveUp() && std::exchange(speech_.is_pending, false)) {
    speech_.note = context_.Said(Text::kSayLost);
  }
}

void Talk::HandleSayings(const Batch& batch) {
  conversation_.Miss(batch.missed, context_.now_ms);
  for (const Saying& saying : batch.sayings) {
    const bool is_own = context_.relay.IsSelf(saying.from.desktop);
    if (is_own || !guests_.IsMuted(saying.from)) {
      conversation_.Hear(saying, is_own, context_.now_ms);
      if (const auto& bubbles = conversation_.bubbles(); !bubbles.empty()) {
        const Sprite* speaker = SpeakingSprite(bubbles.back());
        if (speaker != nullptr && saying.text == rules::kReactions.front()) {
          simulation_.Wave(speaker->id, speaker->facing);
        } else {
          simulation_.Speak(speaker == nullptr ? kNobody : speaker->id);
        }
      }
    }
  }
}

// The sprite that a bubble belongs to: the newest one that the speaker threw here, or an own one.
const Sprite* Talk::SpeakingSprite(const HeardBubble& bubble) const {
  const Sprite* selected = bubble.is_own ? simulation_.Find(crowd_.selected()) : nullptr;
  if (selected != nullptr) {
    return selected;
  }
  const Sprite* newest = nullptr;
  for (const Sprite& sprite : simulation_.sprites()) {
    const Neighbour* sender = guests_.SenderOf(sprite.id);
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
std::optional<Edge> Talk::SpeakersEdge(const HeardBubble& bubble) const {
  if (bubble.is_own) {
    return Edge::kBottom;
  }
  const Neighbours neighbours = context_.relay.neighbours.value_or(Neighbours{});
  const auto there = std::ranges::find(neighbours, bubble.saying.from.desktop, &Neighbour::desktop);
  if (bubble.saying.edge || there == neighbours.end()) {
    return bubble.saying.edge;
  }
  return static_cast<Edge>(there - neighbours.begin());
}

void Talk::DrawBubbles(Scene* scene) {
  conversation_.Expire(context_.now_ms);
  context_.remarks.Expire(context_.now_ms);
  scene->bubbles.clear();
  scene->obstacles.clear();
  if (context_.IsQuiet()) {
    return;
  }
  const Screen& screen = simulation_.screen();
  if (const Sprite* held = simulation_.Find(simulation_.held())) {
    scene->obstacles.push_back(BoxOf(*held, screen.monitors()[held->monitor].scale));
  }
  const auto& bubbles = conversation_.bubbles();
  for (auto bubble = bubbles.rbegin(); context_.settings.bubbles && bubble != bubbles.rend();
       ++bubble) {
    const std::optional<Edge> edge = SpeakersEdge(*bubble);
    DrawBubble({bubble->id,
                bubble->is_own ? "" : bubble->saying.from.DisplayName(),
                bubble->saying.text,
                {}},
               SpeakingSprite(*bubble), edge.value_or(Edge::kTop), edge && !bubble->is_own, scene);
  }
  for (const Remark& remark : context_.remarks.all()) {
    const Sprite* sprite = simulation_.Find(remark.sprite);
    if (sprite != nullptr || remark.sprite == kNobody) {
      DrawBubble({remark.id, "", remark.text, {}}, sprite, remark.edge, true, scene);
    }
  }
}

void Talk::DrawBubble(DrawnBubble drawn, const Sprite* sprite, Edge edge, bool has_tail,
                      Scene* scene) const {
  const Screen& screen = simulation_.screen();
  const size_t index = sprite != nullptr ? sprite->monitor : screen.PrimaryMonitor();
  if (context_.settings.hide_in_full_screen && context_.IsCovered(index)) {
    return;
  }
  const Monitor& monitor = screen.monitors()[index];
  drawn.post.room = Inset(monitor.work, kBubbleGap * monitor.scale);
  drawn.post.scale = monitor.scale;
  drawn.post.edge = edge;
  drawn.post.has_tail_at_edge = has_tail;
  if (sprite != nullptr) {
    drawn.post.sprite = BoxOf(*sprite, monitor.scale);
  }
  scene->bubbles.push_back(std::move(drawn));
}

}  // namespace sprites
