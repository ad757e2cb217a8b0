#include "core/desktop/conversation.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sprites {

int64_t BubbleMs(const std::string& text) {
  return kBubbleMsMin + kBubbleMsPerByte * static_cast<int64_t>(text.size());
}

void Conversation::Hear(const Saying& saying, bool is_own, int64_t now_ms) {
  AddLine({0, saying, 0, is_own, now_ms});
  const auto is_of_speaker = [&](const HeardBubble& bubble) {
    return bubble.saying.from.desktop == saying.from.desktop;
  };
  const auto first = std::ranges::find_if(bubbles_, is_of_speaker);
  if (std::ranges::count_if(bubbles_, is_of_speaker) >= std::ptrdiff_t{kBubblesPerSpeakerMax}) {
    bubbles_.erase(first);
  } else if (bubbles_.size() >= kBubblesMax) {
    bubbles_.pop_front();
  }
  bubbles_.push_back({++last_bubble_, saying, is_own, now_ms + BubbleMs(saying.text)});
}

void Conversation::Miss(uint64_t count, int64_t now_ms) {
  if (count == 0) {
    return;
  }
  if (!history_.empty() && history_.back().missed > 0) {
    uint64_t& missed = history_.back().missed;
    missed += std::min(count, std::numeric_limits<uint64_t>::max() - missed);
    history_version_++;
    return;
  }
  AddLine({0, {}, count, false, now_ms});
}

void Conversation::AddLine(HeardLine line) {
  if (history_.size() >= kHistoryMax) {
    history_.pop_front();
  }
  line.id = ++last_line_;
  history_.push_back(std::move(line));
  history_version_++;
}

void Conversation::Silence(const Neighbour& speaker) {
  std::erase_if(bubbles_, [&](const HeardBubble& bubble) {
    return !bubble.is_own && Mutes(speaker, bubble.saying.from);
  });
}

void Conversation::Expire(int64_t now_ms) {
  std::erase_if(bubbles_, [now_ms](const HeardBubble& bubble) { return bubble.end_ms <= now_ms; });
}

int64_t Conversation::NextEndMs() const {
  int64_t next = std::numeric_limits<int64_t>::max();
  for (const HeardBubble& bubble : bubbles_) {
    next = std::min(next, bubble.end_ms);
  }
  return next;
}

}  // namespace sprites
