// The journey of a sprite: read from what a relay sends, and one desktop longer with each throw.
//
// Source: BEHAVIOUR.md, "Journeys"; the cases are in relay.vectors.json. Cost: O(its bytes).
#ifndef CLIENT_WIN_CORE_RELAY_JOURNEY_H_
#define CLIENT_WIN_CORE_RELAY_JOURNEY_H_

#include <cstdint>
#include <string>

#include "core/motion/sprite.h"
#include "core/text/json_fwd.h"

namespace sprites {

// Each number within its limits; one without hops for what is no journey.
Journey JourneyIn(const Json& value);
// REQUIRES: it has hops.
Json JourneyToJson(const Journey& journey);

// With one throw more, by a desktop of this name, which is left out when it is empty. `author` drew
// the sprite whose journey begins with it.
Journey Travelled(const Journey& journey, const std::string& name, const std::string& author,
                  int64_t now_s);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_JOURNEY_H_
