// The next step of a sprite that is thrown to a friend: over which edge of this desktop, or that it
// stays here.
//
// Each desktop on the way decides it alone, from the goal and its own neighbours. The rest of the
// way gets shorter by each step, so it ends, also when desktops come and go meanwhile.
// Source: BEHAVIOUR.md, "Thrown to a friend"; the cases are in relay.vectors.json. Cost: O(1).
#ifndef CLIENT_WIN_CORE_RELAY_GOAL_H_
#define CLIENT_WIN_CORE_RELAY_GOAL_H_

#include <optional>
#include <string>

#include "core/motion/sprite.h"
#include "core/relay/batch.h"

namespace sprites {

// Over which edge a sprite goes on, and what its crossing then says.
struct Step {
  Edge edge = Edge::kLeft;
  Goal goal;
  std::string animation = {};  // with which it came, if it only passes: so its game goes on
};

// Nothing: the sprite stays. `name` is that of this desktop, as others see it; for the thrower it
// is nothing.
std::optional<Step> NextStep(const Goal& goal, const std::optional<std::string>& name,
                             const Neighbours& neighbours);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_GOAL_H_
