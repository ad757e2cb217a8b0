#include "win32/sounds.h"

#include <windows.h>
// After windows.h.
#include <mmsystem.h>

#include <cmath>
#include <cstdint>
#include <numbers>

namespace sprites {

namespace {

constexpr uint32_t kSamplesPerSecond = 22'050;
constexpr double kLoudness = 5'000;  // of 32 767: quiet

// A tone whose pitch slides from one frequency to another.
struct Glide {
  double from_hz;
  double to_hz;
  double seconds;
};
// By Sound.
constexpr std::array<Glide, 4> kGlides = {
    {{380, 900, 0.16}, {900, 520, 0.20}, {170, 110, 0.08}, {520, 300, 0.22}}};

void Append(std::string* bytes, uint32_t number, int size) {
  for (int i = 0; i < size; i++) {
    *bytes += static_cast<char>(number >> 8 * i & 0xFF);
  }
}

// Returns a WAV file: one channel, 16 bits per sample.
std::string WaveOf(const Glide& glide) {
  const auto samples = static_cast<uint32_t>(glide.seconds * kSamplesPerSecond);
  std::string wave = "RIFF";
  Append(&wave, 36 + 2 * samples, 4);
  wave += "WAVEfmt ";
  Append(&wave, 16, 4);
  Append(&wave, 1, 2);
  Append(&wave, 1, 2);
  Append(&wave, kSamplesPerSecond, 4);
  Append(&wave, 2 * kSamplesPerSecond, 4);
  Append(&wave, 2, 2);
  Append(&wave, 16, 2);
  wave += "data";
  Append(&wave, 2 * samples, 4);
  double phase = 0;
  for (uint32_t i = 0; i < samples; i++) {
    const double part = static_cast<double>(i) / samples;
    const double hz = glide.from_hz + (glide.to_hz - glide.from_hz) * part;
    phase += 2 * std::numbers::pi * hz / kSamplesPerSecond;
    const double fade = std::sin(std::numbers::pi * std::sqrt(part));
    Append(&wave, static_cast<uint16_t>(static_cast<int16_t>(kLoudness * fade * std::sin(phase))),
           2);
  }
  return wave;
}

}  // namespace

Sounds::Sounds() {
  for (size_t i = 0; i < waves_.size(); i++) {
    waves_[i] = WaveOf(kGlides[i]);
  }
}

void Sounds::Play(Sound sound) const {
  const std::string& wave = waves_[static_cast<size_t>(sound)];
  PlaySoundW(reinterpret_cast<const wchar_t*>(wave.data()), nullptr,
             SND_MEMORY | SND_ASYNC | SND_NODEFAULT);
}

}  // namespace sprites
