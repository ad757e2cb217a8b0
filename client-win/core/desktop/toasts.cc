#include "core/desktop/toasts.h"

#include <algorithm>
#include <utility>

namespace sprites {

void Toasts::Add(ToastKind kind, const std::string& title, const std::string& text,
                 int64_t now_ms) {
  int64_t& shown_ms = shown_ms_[static_cast<size_t>(kind)];
  if (!is_enabled_ || (shown_ms != 0 && now_ms - shown_ms < kToastMsMin)) {
    return;
  }
  shown_ms = std::max<int64_t>(1, now_ms);
  toasts_.push_back({kind, title, text});
}

void Toasts::AddArrival(Language language, const std::string& sprite, const std::string& from,
                        int64_t now_ms) {
  if (known_.size() >= kKnownNeighboursMax) {
    known_.clear();
  }
  if (!from.empty() && known_.insert(from).second) {
    Add(ToastKind::kArrived, Say(language, Text::kToastArrived, {sprite}),
        Say(language, Text::kToastArrivedFrom, {from}), now_ms);
  }
}

std::vector<Toast> Toasts::Pop() { return std::exchange(toasts_, {}); }

}  // namespace sprites
