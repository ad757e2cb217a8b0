// Reads the WAV files of the person's own sounds.
//
// Invariant: nothing is read beyond the file, and no memory is allocated for what a header claims.
// Cost: O(bytes).
#ifndef CLIENT_WIN_CORE_DESKTOP_WAVE_H_
#define CLIENT_WIN_CORE_DESKTOP_WAVE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/text/refused.h"

namespace sprites {

constexpr size_t kWaveBytesMax = 2'097'152;  // bytes: 5 s in stereo, 48 kHz and 24 bits have 1.4 MB
constexpr int kWaveSecondsMax = 5;           // a longer one would still play when the next is due
constexpr uint32_t kWaveHzMin = 8'000;       // samples a second: a telephone
constexpr uint32_t kWaveHzMax = 96'000;      // a studio

// Why a sound can't be played.
class WaveRefused : public Refused {
 public:
  using Refused::Refused;
};

// The samples of a file, as one channel of kSamplesPerSecond (tones.h). The file has PCM of 8, 16,
// 24 or 32 bits in one or two channels. Throws WaveRefused.
std::vector<int16_t> ReadWave(std::string_view file);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_WAVE_H_
