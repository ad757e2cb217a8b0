#include "core/desktop/tones.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "core/desktop/files/settings.h"

namespace sprites {
namespace {

constexpr Sound kAll[] = {Sound::kThrow, Sound::kArrive, Sound::kLand, Sound::kReturn};

int PeakOf(const std::vector<int16_t>& samples) {
  int peak = 0;
  for (const int16_t sample : samples) {
    peak = std::max(peak, std::abs(int{sample}));
  }
  return peak;
}

TEST_CASE("tones › are as loud as the volume says, and silent at zero") {
  for (const Sound sound : kAll) {
    CHECK(PeakOf(SamplesOf(sound, kVolumeMin)) == 0);
    for (const int volume : {1, kVolumeDefault, kVolumeMax}) {
      const int peak = PeakOf(SamplesOf(sound, volume));
      CHECK(peak <= volume * kTonePeak);
      CHECK(peak >= volume * kTonePeak * 9 / 10 - 1);
    }
  }
}

TEST_CASE("tones › begin and end in silence, and take less than a quarter of a second") {
  for (const Sound sound : kAll) {
    const auto samples = SamplesOf(sound, kVolumeMax);
    CHECK(samples.size() > kSamplesPerSecond / 20);
    CHECK(samples.size() < kSamplesPerSecond / 4);
    CHECK(std::abs(int{samples.front()}) <= 1);
    CHECK(std::abs(int{samples.back()}) <= 1);
  }
}

TEST_CASE("tones › as a WAV file, which says how long it is") {
  const std::vector<int16_t> samples = {1, -2};
  const std::string wave = WaveFile(samples);
  const auto number = [&](size_t at) { return static_cast<unsigned char>(wave[at]); };
  CHECK(wave.size() == 48);
  CHECK(wave.starts_with("RIFF"));
  CHECK(number(4) == 40);
  CHECK(wave.substr(8, 8) == "WAVEfmt ");
  CHECK(wave.substr(36, 4) == "data");
  CHECK(number(40) == 4);
  CHECK(wave.substr(44) == std::string("\x01\x00\xFE\xFF", 4));
  CHECK(WaveFile({}).size() == 44);
}

}  // namespace
}  // namespace sprites
