// Four short sounds, made of sine waves when the program starts. Playing one never waits.
#ifndef CLIENT_WIN_WIN32_SOUNDS_H_
#define CLIENT_WIN_WIN32_SOUNDS_H_

#include <array>
#include <string>

#include "core/desktop/outbox.h"

namespace sprites {

class Sounds {
 public:
  Sounds();
  // A sound that is playing gives way.
  void Play(Sound sound) const;

 private:
  std::array<std::string, 4> waves_;  // WAV files, by Sound
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SOUNDS_H_
