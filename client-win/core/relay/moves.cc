#include "core/relay/moves.h"

#include "core/relay/relay_link.h"

namespace sprites {

std::optional<std::string> RelayToJoin(std::string_view relay, std::string_view join) {
  // The first reads what a person types; the second wants a scheme and no user.
  const auto link = ReadRelayLink(join);
  if (!link || link->relay.empty() || !RelayOrigin(join)) {
    return std::nullopt;
  }
  const bool leaves_tls = relay.starts_with("https:") && !link->relay.starts_with("https:");
  return leaves_tls ? std::nullopt : std::optional(link->relay);
}

bool IsLost(std::string_view began, const Seat& seat, int64_t silent_ms) {
  return RelayOrigin(seat.crossings) != began &&
         silent_ms >= rules::kLostLeases * seat.lease_seconds * 1000;
}

std::optional<std::string> Moves::Follow(std::string_view relay, std::string_view join,
                                         int64_t now_ms) {
  auto to = RelayToJoin(relay, join);
  while (!made_ms_.empty() && now_ms - made_ms_.front() >= kMovesMs) {
    made_ms_.pop_front();
  }
  if (!to || made_ms_.size() == kMovesMax) {
    return std::nullopt;
  }
  made_ms_.push_back(now_ms);
  if (relay == site_) {
    site_ = *to;
  }
  return to;
}

}  // namespace sprites
