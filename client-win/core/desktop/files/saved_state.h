// What a desktop saves, so that nothing it is answerable for is lost when the program ends: its
// sprites, those that wait for room, those that the relay has not decided about, and its seat.
//
// Invariant: reading never fails. Whatever is wrong in the file is left out, and every number is
// within its limits. Cost: O(sprites); the file has at most kSavedBytesMax.
#ifndef CLIENT_WIN_CORE_DESKTOP_FILES_SAVED_STATE_H_
#define CLIENT_WIN_CORE_DESKTOP_FILES_SAVED_STATE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/motion/sprite.h"
#include "core/relay/batch.h"
#include "core/relay/crossings/away.h"
#include "core/relay/crossings/departures.h"
#include "core/relay/sayings.h"
#include "core/relay/seat.h"

namespace sprites {

constexpr size_t kSavedBytesMax = 1'048'576;  // bytes of the file

// Where an invitation led, for the time when it has ended.
struct InvitedTo {
  std::string invitation;
  std::string world;
};

struct SavedSprite {
  Sprite sprite;     // file, name, scale, from_shelf, facing and place; the rest has its defaults
  uint64_t seq = 0;  // Arrivals::SeqOf, which belongs to the seat
  // Of a guest: who threw it, and the edge that it came in by.
  Neighbour from = {};
  std::optional<Edge> entered = {};
};

struct SavedState {
  std::string relay;  // these three say where the seat is
  std::string world;
  std::string name;
  std::optional<Seat> seat;
  std::string joined_at;  // the address at which the seat was joined: `relay`, or where that led
  InvitedTo invited;
  uint64_t seq = 0;          // Arrivals::seq
  uint64_t next_number = 1;  // Departures::next_number
  // Sayings::next_number and ::pending, which belong to the seat.
  uint64_t next_saying = 1;
  std::optional<PendingSaying> saying;
  std::vector<SavedSprite> sprites;
  std::vector<PendingDeparture> departures;  // number, departure and seat of each
  std::deque<Arrival> waiting;               // `seq` as of sprites
  std::vector<AwaySprite> away;              // Away::all
  // Of reading.
  bool is_state = false;  // the text is a JSON object
  size_t left_out = 0;  // sprites, departures and waiting ones that can't be used, as far as known
};

std::string SavedStateJson(const SavedState& state);
// `relay_url` is the relay that the seat must belong to. Never throws.
SavedState ReadSavedState(std::string_view json, std::string_view relay_url);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_FILES_SAVED_STATE_H_
