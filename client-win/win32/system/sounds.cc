#include "win32/system/sounds.h"

#include <windows.h>
// After windows.h.
#include <mmsystem.h>

#include "core/desktop/tones.h"

namespace sprites {

void Sounds::Play(std::span<const int16_t> samples) {
  Stop();
  wave_ = WaveFile(samples);
  PlaySoundW(reinterpret_cast<const wchar_t*>(wave_.data()), nullptr,
             SND_MEMORY | SND_ASYNC | SND_NODEFAULT);
}

void Sounds::Stop() { PlaySoundW(nullptr, nullptr, 0); }

}  // namespace sprites
