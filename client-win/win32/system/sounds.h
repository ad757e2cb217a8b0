// Plays the sounds of the program.
#ifndef CLIENT_WIN_WIN32_SYSTEM_SOUNDS_H_
#define CLIENT_WIN_WIN32_SYSTEM_SOUNDS_H_

#include <cstdint>
#include <span>
#include <string>

namespace sprites {

class Sounds {
 public:
  Sounds() = default;
  ~Sounds() { Stop(); }
  Sounds(const Sounds&) = delete;
  Sounds& operator=(const Sounds&) = delete;

  // Starts a sound (core/desktop/tones.h), and returns at once. One that is still playing is cut
  // off.
  void Play(std::span<const int16_t> samples);

 private:
  // Windows reads a sound that plays from `wave_`: call it before that changes or ends.
  static void Stop();

  std::string wave_;  // a WAV file
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_SOUNDS_H_
