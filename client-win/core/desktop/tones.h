// Computes the four sounds of the program. Each is one short tone, a sine wave whose pitch slides
// up or down.
//
// One channel of 16-bit samples. Invariant: a tone begins and ends in silence, and its loudest
// sample is kTonePeak times the volume, so full volume is a third of what the system plays at most.
// Cost: 10,000 sines.
#ifndef CLIENT_WIN_CORE_DESKTOP_TONES_H_
#define CLIENT_WIN_CORE_DESKTOP_TONES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/desktop/outbox.h"

namespace sprites {

constexpr int kSamplesPerSecond = 44'100;  // as most files have
constexpr int kTonePeak = 100;             // of 32 767, for each percent of the volume

// The samples of a sound at a volume of 0 to kVolumeMax percent.
std::vector<int16_t> SamplesOf(Sound sound, int volume);

// A WAV file with these samples.
std::string WaveFile(std::span<const int16_t> samples);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_TONES_H_
