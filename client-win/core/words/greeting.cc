#include "core/words/greeting.h"

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
  const bool is_empty = desktop.simulation().sprites().empty();
  if (stage_ == Stage::kNone && !is_empty) {
    stage_ = StageAt(desktop, now_ms);
    since_ms_ = now_ms;
    was_shown_[static_cast<size_t>(stage_)] = true;
  }
  const Language language = desktop.language();
  switch (is_empty || desktop.IsQuiet() ? Stage::kNone : stage_) {
    case Stage::kWelcome:
      return Say(language, Text::kBubbleWelcome);
    case Stage::kAlone:
      return Say(language, Text::kBubbleAlone);
    case Stage::kUnreachable:
      return Say(language, Text::kBubbleUnreachable, {HostOf(desktop.settings().relay)});
    case Stage::kNone:
      break;
  }
  return "";
}

void Greeting::Dismiss(int64_t now_ms) {
  if (stage_ == Stage::kNone) {
    return;
  }
  is_done_ = is_done_ || stage_ == Stage::kWelcome;
  stage_ = Stage::kNone;
  ended_ms_ = now_ms;
}

Greeting::Stage Greeting::StageAt(const Desktop& desktop, int64_t now_ms) const {
  const auto was_shown = [this](Stage stage) { return was_shown_[static_cast<size_t>(stage)]; };
  const bool is_new = !desktop.settings().greeted;
  if (is_new && !was_shown(Stage::kWelcome)) {
    return now_ms - *begun_ms_ >= kFirstBubbleMs ? Stage::kWelcome : Stage::kNone;
  }
  if (desktop.relay().IsUnreachable() && !was_connected_ && !was_shown(Stage::kUnreachable)) {
    return Stage::kUnreachable;
  }
  const bool has_waited = now_ms - ended_ms_ >= kAloneMs;
  const bool is_alone = was_connected_ && desktop.relay().IsAlone() && was_shown(Stage::kWelcome);
  return is_alone && has_waited && !was_shown(Stage::kAlone) ? Stage::kAlone : Stage::kNone;
}

}  // namespace sprites
