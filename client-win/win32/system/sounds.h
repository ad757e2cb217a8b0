// Plays the sounds of the program (core/desktop/tones.h).
#ifndef CLIENT_WIN_WIN32_SYSTEM_SOUNDS_H_
#define CLIENT_WIN_WIN32_SYSTEM_SOUNDS_H_

#include <array>
#include <string>

#include "core/desktop/outbox.h"

namespace sprites {

class Sounds {
 public:
  Sounds() = default;
  ~Sounds() { Stop(); }
  Sounds(const Sounds&) = delete;
  Sounds& operator=(const Sounds&) = delete;

  // Starts a sound at a volume of 0 to kVolumeMax percent, and returns at once. A sound that is
  // still playing is cut off.
  void Play(Sound sound, int volume);

 private:
  // Windows reads a sound that plays from `waves_`: call it before that changes or ends.
  static void Stop();

  int volume_ = 0;                    // of `waves_`
  std::array<std::string, 4> waves_;  // WAV files, by Sound
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_SOUNDS_H_
