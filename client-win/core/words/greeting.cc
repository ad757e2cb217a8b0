#include "core/words/greeting.h"

#include <algorithm>

namespace sprites {

std::string Greeting::Update(const Desktop& desktop, int64_t now_ms) {
  if (!begun_ms_) {
    begun_ms_ = now_ms;
  }
  was_connected_ = was_connected_ || desktop.relay().link() == Link::kConnected;
  if (stage_ != Stage::kNone && now_ms - since_ms_ >= kBubbleMs) {
    Dismiss(now_ms);
  }
  if (stage_ == Stage::kUnreachable && was_connected_) {
    Dismiss(now_ms);  // it is not true any more
  }
  if (IsDone(stage_, desktop)) {
    Dismiss(now_ms);
  }
  const bool has_played = was_shown_[static_cast<size_t>(Stage::kThrow)] && stage_ == Stage::kNone;
  is_done_ = is_done_ || (has_played && desktop.relay().name.empty());  // no name to tell
  const bool is_empty = desktop.simulation().sprites().empty();
  if (stage_ == Stage::kNone && !is_empty) {
    stage_ = StageAt(desktop, now_ms);
    since_ms_ = now_ms;
    was_shown_[static_cast<size_t>(stage_)] = true;
  }
  const Language language = desktop.language();
  switch (is_empty || desktop.IsQuiet() ? Stage::kNone : stage_) {
    case Stage::kDrag:
      return Say(language, Text::kBubbleDrag);
    case Stage::kStroke:
      return Say(language, Text::kBubbleStroke);
    case Stage::kThrow:
      return Say(language, Text::kBubbleThrow);
    case Stage::kName:
      return Say(language, Text::kBubbleName, {desktop.relay().name});
    case Stage::kAlone:
      return Say(language, Text::kBubbleAlone);
    case Stage::kUnreachable:
      return Say(language, Text::kBubbleUnreachable, {HostOf(desktop.settings().relay)});
    case Stage::kNone:
      break;
  }
  return "";
}

void Greeting::Dismiss(int64_t now_ms, bool is_grab) {
  if (stage_ == Stage::kNone ||
      (is_grab && (stage_ == Stage::kStroke || stage_ == Stage::kThrow))) {
    return;
  }
  is_done_ = is_done_ || stage_ == Stage::kName;
  stage_ = Stage::kNone;
  ended_ms_ = now_ms;
}

// Whether the person has done what a step asks for.
bool Greeting::IsDone(Stage stage, const Desktop& desktop) {
  const Simulation& simulation = desktop.simulation();
  const auto& sprites = simulation.sprites();
  switch (stage) {
    case Stage::kDrag:
      return simulation.held() != kNobody;
    case Stage::kStroke:
      return std::ranges::find(sprites, Mode::kPet, &Sprite::mode) != sprites.end();
    case Stage::kThrow:
      return desktop.traffic().on_the_way() > 0 ||
             std::ranges::find(sprites, true, &Sprite::thrown) != sprites.end();
    default:
      return false;
  }
}

Greeting::Stage Greeting::StageAt(const Desktop& desktop, int64_t now_ms) const {
  const auto was_shown = [this](Stage stage) { return was_shown_[static_cast<size_t>(stage)]; };
  const bool is_new = !desktop.settings().greeted && !is_done_;
  if (is_new && now_ms - *begun_ms_ < kFirstBubbleMs) {
    return Stage::kNone;
  }
  for (const Stage step : {Stage::kDrag, Stage::kStroke, Stage::kThrow, Stage::kName}) {
    const bool can_be_said = step != Stage::kName || !desktop.relay().name.empty();
    if (is_new && !was_shown(step) && can_be_said) {
      return step;
    }
  }
  if (desktop.relay().IsUnreachable() && !was_connected_ && !was_shown(Stage::kUnreachable)) {
    return Stage::kUnreachable;
  }
  const bool has_waited = now_ms - ended_ms_ >= kAloneMs;
  const bool is_alone = was_connected_ && desktop.relay().IsAlone() && was_shown(Stage::kName);
  return is_alone && has_waited && !was_shown(Stage::kAlone) ? Stage::kAlone : Stage::kNone;
}

}  // namespace sprites
