#include "win32/system/sounds.h"

#include <windows.h>
// After windows.h.
#include <mmsystem.h>

#include "core/desktop/tones.h"

namespace sprites {

void Sounds::Play(Sound sound, int volume) {
  std::string& wave = waves_[static_cast<size_t>(sound)];
  if (volume != volume_) {
    Stop();
    volume_ = volume;
    waves_ = {};
  }
  if (wave.empty()) {
    wave = WaveFile(SamplesOf(sound, volume));
  }
  PlaySoundW(reinterpret_cast<const wchar_t*>(wave.data()), nullptr,
             SND_MEMORY | SND_ASYNC | SND_NODEFAULT);
}

void Sounds::Stop() { PlaySoundW(nullptr, nullptr, 0); }

}  // namespace sprites
