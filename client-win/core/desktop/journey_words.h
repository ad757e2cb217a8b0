// What a sprite's journey says to a person. Cost: O(its bytes).
#ifndef CLIENT_WIN_CORE_DESKTOP_JOURNEY_WORDS_H_
#define CLIENT_WIN_CORE_DESKTOP_JOURNEY_WORDS_H_

#include <string>

#include "core/desktop/context.h"
#include "core/motion/sprite.h"
#include "core/text/texts.h"

namespace sprites {

// Such as "17 desktops since Tuesday; from Ada by way of Bob". REQUIRES: journey.hops > 0.
std::string JourneyWords(Language language, const Journey& journey, const WallClock& clock);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_JOURNEY_WORDS_H_
