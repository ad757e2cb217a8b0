// What a sprite's journey says to a person. Cost: O(its bytes).
#ifndef CLIENT_WIN_CORE_DESKTOP_JOURNEY_WORDS_H_
#define CLIENT_WIN_CORE_DESKTOP_JOURNEY_WORDS_H_

#include <string>

#include "core/desktop/context.h"
#include "core/motion/sprite.h"
#include "core/relay/crossings/away.h"
#include "core/text/texts.h"

namespace sprites {

// Such as "17 desktops since Tuesday; from Ada by way of Bob". REQUIRES: journey.hops > 0.
std::string JourneyWords(Language language, const Journey& journey, const WallClock& clock);
// Likewise, after the name and who drew it: what a sprite tells.
std::string TellJourney(Language language, const std::string& name, const Journey& journey,
                        const WallClock& clock);
// What an own sprite says that has come home, such as "Miso is home: 17 desktops since Tuesday".
std::string HomeWords(Language language, const std::string& name, const Journey& journey,
                      const WallClock& clock);
// Where a sprite was last seen, such as "Miso: last seen with Ada, 10:41".
std::string SeenWords(Language language, const AwaySprite& sprite, const WallClock& clock);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_JOURNEY_WORDS_H_
