// What arrives: every sprite of every answered poll, checked against the ledger of the slice that
// threw it.
//
// A sprite must be what was thrown: position, speed, picture and state follow from its tag.
// Cost: one parse of the name, one locked instruction in the thrower's ledger, one histogram
// record.
#ifndef LOADTEST_ENGINE_DESKTOPS_CATCHES_H_
#define LOADTEST_ENGINE_DESKTOPS_CATCHES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "account/flight.h"
#include "account/sprite_tag.h"
#include "desktops/slice_state.h"

namespace swarm {

// A sprite event of a batch; views of the response.
struct SpriteEvent {
  uint64_t seq = 0;
  std::string_view from;
  std::string_view edge;
  std::string_view name;
  ReceivedFlight flight;
};

class Catches {
 public:
  // `doorbells`: the event descriptors of all slices.
  Catches(SliceState& slice, const std::vector<int>& doorbells);

  // A sprite of a batch. The desktop has it, but has not acknowledged it yet.
  void Catch(Desktop& desktop, uint32_t index, const SpriteEvent& event, int64_t now_ns);
  // The relay has answered a poll of this desktop: it has read the cursor of the batch before.
  void Acknowledge(Desktop& desktop) { GiveBack(desktop, UINT32_MAX); }
  // The desktop has ended, and the relay names the last sequence that it acknowledged. What it got
  // after that goes on to the next desktop, so this one does not keep it.
  void GiveBack(Desktop& desktop, uint64_t acknowledged);

  // Closed loop: how many throws of this slice became complete here since the last call.
  uint64_t PopCompleted();
  // Closed loop: wakes the slices whose throws became complete here. Called once a turn.
  void RingDoorbells();

 private:
  struct Unacknowledged {
    uint64_t number = 0;
    uint32_t slice = 0;
    uint32_t seq = 0;
    uint32_t next = kNoCatch;
  };
  void Keep(Desktop& desktop, const SpriteTag& tag);
  // Remembers whether the edge by which the thrower's sprite left leads to another relay.
  void NoteExit(const SpriteTag& tag, uint32_t index);
  bool IsFrom(uint32_t index, std::string_view id);
  void RecordLatency(const Desktop& desktop, int64_t due_ns, int64_t now_ns);
  void CountCompleted(uint32_t slice);

  SliceState& slice_;
  const std::vector<int>& doorbells_;
  // Lists, by desktop, and one of free entries.
  std::vector<Unacknowledged> unacknowledged_;
  uint32_t free_ = kNoCatch;
  uint64_t completed_ = 0;
  std::vector<uint32_t> to_ring_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DESKTOPS_CATCHES_H_
