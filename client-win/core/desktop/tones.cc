#include "core/desktop/tones.h"

#include <array>
#include <cmath>
#include <numbers>

namespace sprites {

namespace {

// A tone whose pitch slides from one frequency to another.
struct Glide {
  double from_hz;
  double to_hz;
  double seconds;
};
// By Sound.
constexpr std::array<Glide, 4> kGlides = {
    {{380, 900, 0.16}, {900, 520, 0.20}, {170, 110, 0.08}, {520, 300, 0.22}}};

// Little-endian.
void Append(std::string* bytes, uint32_t number, int size) {
  for (int i = 0; i < size; i++) {
    *bytes += static_cast<char>(number >> 8 * i & 0xFF);
  }
}

}  // namespace

std::vector<int16_t> SamplesOf(Sound sound, int volume) {
  const Glide& glide = kGlides[static_cast<size_t>(sound)];
  const auto count = static_cast<size_t>(glide.seconds * kSamplesPerSecond);
  std::vector<int16_t> samples;
  double phase = 0;
  for (size_t i = 0; i < count; i++) {
    const double part = static_cast<double>(i) / static_cast<double>(count - 1);
    const double hz = glide.from_hz + (glide.to_hz - glide.from_hz) * part;
    phase += 2 * std::numbers::pi * hz / kSamplesPerSecond;
    const double fade = std::sin(std::numbers::pi * std::sqrt(part));
    samples.push_back(static_cast<int16_t>(kTonePeak * volume * fade * std::sin(phase)));
  }
  return samples;
}

std::string WaveFile(std::span<const int16_t> samples) {
  constexpr uint32_t kHeaderBytes = 36;  // after the first two fields
  const auto bytes = static_cast<uint32_t>(samples.size_bytes());
  std::string wave = "RIFF";
  Append(&wave, kHeaderBytes + bytes, 4);
  wave += "WAVEfmt ";
  Append(&wave, 16, 4);  // bytes of the format
  Append(&wave, 1, 2);   // PCM
  Append(&wave, 1, 2);   // channels
  Append(&wave, kSamplesPerSecond, 4);
  Append(&wave, 2 * kSamplesPerSecond, 4);  // bytes a second
  Append(&wave, 2, 2);                      // bytes of a sample
  Append(&wave, 16, 2);                     // bits of a sample
  wave += "data";
  Append(&wave, bytes, 4);
  for (const int16_t sample : samples) {
    Append(&wave, static_cast<uint16_t>(sample), 2);
  }
  return wave;
}

}  // namespace sprites
