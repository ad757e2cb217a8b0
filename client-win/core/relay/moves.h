// Where a desktop joins when its relay stops for good, or does not answer any more.
//
// A relay that stops for good names another one. A desktop follows only to an address that its user
// could have typed, and only kMovesMax times in kMovesMs, so that relays that name each other can't
// make it run in circles. The rules are in BEHAVIOUR.md, and cases of them in moves.vectors.json,
// which server/web/relay/moves.ts follows too. Cost: O(1).
#ifndef CLIENT_WIN_CORE_RELAY_MOVES_H_
#define CLIENT_WIN_CORE_RELAY_MOVES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/relay/seat.h"

namespace sprites {

constexpr size_t kMovesMax = 4;        // moves in kMovesMs: several relays may stop one by one
constexpr int64_t kMovesMs = 600'000;  // for which a move counts: in circles, 24 joins an hour

// The origin of `join`, which the relay at the origin `relay` names. Nothing when a desktop must
// not follow there.
std::optional<std::string> RelayToJoin(std::string_view relay, std::string_view join);

// Whether to join at the address `began` again, because the relay of the seat, another one, has not
// answered for so long.
bool IsLost(std::string_view began, const Seat& seat, int64_t silent_ms);

class Moves {
 public:
  explicit Moves(std::string began) : site_(std::move(began)) {}

  // Where to move when `relay` names `join`, and counts the move. Nothing when the desktop stays.
  std::optional<std::string> Follow(std::string_view relay, std::string_view join, int64_t now_ms);

  // Where links for friends lead: to the address where the desktop began, or, if that was the relay
  // that stopped, to the next relay.
  const std::string& site() const { return site_; }

 private:
  std::string site_;
  std::deque<int64_t> made_ms_;  // when the last moves were, the oldest first
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_MOVES_H_
