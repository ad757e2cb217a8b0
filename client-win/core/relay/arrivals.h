// What this desktop has received from the relay: which events are new, which sprites came with the
// last batch, and which sprites wait for room.
//
// Invariant: an event is new once; its number is above that of every event before it in the same
// epoch. The last batch can be taken back until the next one begins.
// Cost: O(1) an arrival; O(waiting) to take a batch back.
#ifndef CLIENT_WIN_CORE_RELAY_ARRIVALS_H_
#define CLIENT_WIN_CORE_RELAY_ARRIVALS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/motion/sprite.h"
#include "core/relay/batch.h"
#include "core/relay/crossings/departures.h"

namespace sprites {

constexpr size_t kWaitingToPollMax = 64;  // sprites without room; at this many, polling stops
// Sprites without room at most: one more batch, and every forwarded sprite that is refused.
constexpr size_t kWaitingMax = 2 * kWaitingToPollMax + kDeparturesMax;

constexpr size_t kRemovedMax = 1'000;  // removed pictures remembered; an operator removes by hand

class Arrivals {
 public:
  // Starts a batch, whose first event has this number; 0 for a batch without sprites. The one
  // before can no longer be taken back, unless this one begins with events of it, which no poll
  // acknowledged.
  void BeginBatch(uint64_t first_seq);
  // Whether this event has not been received before. From now on it has.
  bool IsNew(const Arrival& arrival);
  // Records that an arrival became the sprite `id`.
  void Admit(const Arrival& arrival, SpriteId id);

  // Adds an arrival that has no room yet.
  void Wait(Arrival arrival) { waiting_.push_back(std::move(arrival)); }
  // The longest waiting one that has room, if any.
  std::optional<Arrival> Pop(const std::function<bool(const Arrival&)>& has_room);
  const std::deque<Arrival>& waiting() const { return waiting_; }

  // The operator has removed this picture: drops the sprites of it that wait.
  void RemovePicture(const std::string& file);
  // Whether the picture was removed. Sprites of it that were on their way do not enter.
  bool IsRemoved(const std::string& file) const;

  // The last batch went to another desktop: drops those of it that wait, and returns the sprites
  // that the others became.
  std::vector<SpriteId> TakeBackBatch() { return TakeBackAfter(batch_seq_ - 1); }
  // Likewise, but only what came after the event with this number.
  std::vector<SpriteId> TakeBackAfter(uint64_t seq);
  // The relay numbers its events from 1 again. What was received before stays here.
  void BeginEpoch();

  // The number of the newest event of this epoch; 0 before the first.
  uint64_t seq() const { return seq_; }
  // The number of the event that brought this sprite, or this waiting one, with the last batch; 0
  // for all others.
  uint64_t SeqOf(SpriteId id) const;
  uint64_t SeqOf(const Arrival& waiting) const;
  // Goes on after the event `seq`. These sprites came with the last batch, by their events.
  void Restore(uint64_t seq, std::map<SpriteId, uint64_t> batch);

 private:
  void EndBatch();

  std::deque<Arrival> waiting_;         // oldest first
  std::map<SpriteId, uint64_t> batch_;  // the sprites of the last batch, and their events
  uint64_t batch_seq_ = 1;              // the number that its first event has at least
  uint64_t seq_ = 0;
  std::deque<std::string> removed_;  // pictures, oldest first; at most kRemovedMax
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_ARRIVALS_H_
