// What arrives: every sprite and every saying of every answered poll, checked against the ledger of
// the slice that threw or said it.
//
// A sprite must be what was thrown: position, speed, picture and state follow from its tag.
// Cost: one parse of the name, one locked instruction in the thrower's ledger, one histogram
// record. A desktop hears nothing twice: what one speaker says has rising numbers, so it is enough
// to remember the last of each. Memory: 8 bytes for each desktop and each speaker that it has
// heard.
#ifndef LOADTEST_ENGINE_DESKTOPS_CATCHES_H_
#define LOADTEST_ENGINE_DESKTOPS_CATCHES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "account/flight.h"
#include "account/seen_stages.h"
#include "account/sprite_tag.h"
#include "desktops/slice_state.h"

namespace swarm {

// An event of a batch that brings something; views of the response.
struct Arrival {
  uint64_t seq = 0;
  std::string_view from;
  std::string_view edge;
  std::string_view name;
  ReceivedFlight flight;
  std::string_view text;  // of a saying
  uint64_t missed = 0;    // how many sayings are lost, before those in the batch
  // Of a stage, the first of its sprites.
  uint64_t number = 0;
  double x = 0;
  double y = 0;
  uint32_t elements = 0;  // sprites of a stage, or edges through which a desktop is watched
};

class Catches {
 public:
  // `doorbells`: the event descriptors of all slices.
  Catches(SliceState& slice, const std::vector<int>& doorbells);

  // A sprite of a batch. The desktop has it, but has not acknowledged it yet.
  void Catch(Desktop& desktop, uint32_t index, const Arrival& event, int64_t now_ns);
  // A saying of a batch.
  void Hear(uint32_t index, const Arrival& saying, int64_t now_ns);
  // A stage of a batch.
  void See(uint32_t index, const Arrival& stage);
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
    uint32_t run = 0;
    uint32_t slice = 0;
    uint32_t seq = 0;
    uint32_t next = kNoCatch;
  };
  // The last saying of a speaker that a desktop has heard.
  struct LastHeard {
    uint32_t speaker = 0;
    uint32_t number = 0;
  };
  // Whether the ledgers here know it: it was thrown or said by this machine, in this run.
  bool IsOurs(const SpriteTag& tag) const;
  // Whether it was thrown by another machine of the fleet.
  bool IsVisitor(const SpriteTag& tag) const;
  void CatchVisitor(Desktop& desktop, const SpriteTag& tag, const Arrival& event, int64_t now_ns);
  void GiveBackVisitor(const Unacknowledged& visitor);
  bool IsCorrupted(const Arrival& event, const SpriteTag& tag) const;
  int64_t DueOf(const SpriteTag& tag) const { return slice_.first_throw_ns() + tag.due_ns; }
  // Remembers it as the last one. False: the desktop has heard it, or a later one.
  bool IsNew(uint32_t index, const SpriteTag& saying);
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
  std::vector<std::vector<LastHeard>> heard_;  // by desktop; each in the order of speakers
  SeenStages seen_;
  uint64_t completed_ = 0;
  std::vector<uint32_t> to_ring_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DESKTOPS_CATCHES_H_
