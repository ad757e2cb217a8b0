// Four short sounds, computed from sine waves when the program starts.
#ifndef CLIENT_WIN_WIN32_SOUNDS_H_
#define CLIENT_WIN_WIN32_SOUNDS_H_

#include <array>
#include <string>

#include "core/desktop/outbox.h"

namespace sprites {

class Sounds {
 public:
  Sounds();
  // Starts a sound and returns at once. A sound that is still playing is cut off.
  void Play(Sound sound) const;

 private:
  std::array<std::string, 4> waves_;  // WAV files, by Sound
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SOUNDS_H_
