// What comes in: every sprite of every answered poll, checked against the ledger of whoever threw
// it.
//
// Cost: one parse of the name, one locked instruction in the thrower's ledger, one histogram
// record.
#ifndef LOADTEST_ENGINE_CATCHES_H_
#define LOADTEST_ENGINE_CATCHES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "stage.h"

namespace swarm {

// A sprite event as the poll brought it; views of the answer.
struct SpriteEvent {
  uint64_t seq = 0;
  std::string_view from;
  std::string_view edge;
  std::string_view name;
};

class Catches {
 public:
  // `doorbells`: the event descriptors of all slices.
  Catches(Stage& stage, const std::vector<int>& doorbells);

  void Catch(Desktop& desktop, uint32_t index, const SpriteEvent& event, int64_t now_ns);

  // Closed loop: how many relays of this slice became complete here since the last call.
  uint64_t TakeCompleted();
  // Closed loop: wakes the slices whose relays became complete here. Once a turn.
  void RingDoorbells();

 private:
  bool IsFrom(uint32_t index, std::string_view id);
  void Time(int64_t due_ns, int64_t now_ns);
  void Complete(uint32_t slice);

  Stage& stage_;
  const std::vector<int>& doorbells_;
  uint64_t completed_ = 0;
  std::vector<uint32_t> to_ring_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_CATCHES_H_
