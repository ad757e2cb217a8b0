// Plays the sounds of the program (core/desktop/tones.h).
#ifndef CLIENT_WIN_WIN32_SYSTEM_SOUNDS_H_
#define CLIENT_WIN_WIN32_SYSTEM_SOUNDS_H_

#include <array>
#include <string>

#include "core/desktop/outbox.h"

namespace sprites {

class Sounds {
 public:
  // Starts a sound at a volume of 0 to kVolumeMax percent, and returns at once. A sound that is
  // still playing is cut off.
  void Play(Sound sound, int volume);

 private:
  int volume_ = 0;                    // of `waves_`
  std::array<std::string, 4> waves_;  // WAV files, by Sound: a sound that plays is read from there
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_SOUNDS_H_
