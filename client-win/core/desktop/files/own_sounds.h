// The person's own sounds: WAV files with these names in one folder, each played instead of a sound
// of the program.
//
// Invariant: without such a file, or with a wrong one, the program's own sound is played, and a
// wrong file is reported once. Cost: a look at the file for each sound, and a read of kWaveBytesMax
// at most when it has changed.
#ifndef CLIENT_WIN_CORE_DESKTOP_FILES_OWN_SOUNDS_H_
#define CLIENT_WIN_CORE_DESKTOP_FILES_OWN_SOUNDS_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "core/desktop/outbox.h"
#include "core/text/refused.h"

namespace sprites {

// By Sound.
constexpr std::array<const char*, 4> kSoundFiles = {"throw.wav", "arrive.wav", "land.wav",
                                                    "return.wav"};

class OwnSounds {
 public:
  // `wrong` is called with the name of a file that can't be played, and why.
  OwnSounds(std::filesystem::path folder, std::function<void(const char*, const Reason&)> wrong);

  // The samples of a sound at a volume of 0 to kVolumeMax percent, not louder than a tone of the
  // program (tones.h) at that volume.
  std::vector<int16_t> SamplesOf(Sound sound, int volume);
  // Creates the folder if it is not here. Returns false if that fails.
  bool MakeFolder() const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  struct Own {
    std::filesystem::file_time_type changed{};
    uintmax_t size = 0;
    std::vector<int16_t> samples;  // empty if it can't be played
  };

  void Read(size_t index);

  std::filesystem::path folder_;
  std::function<void(const char*, const Reason&)> wrong_;
  std::array<Own, kSoundFiles.size()> sounds_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_FILES_OWN_SOUNDS_H_
