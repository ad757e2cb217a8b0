#include "core/desktop/wave.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "core/desktop/tones.h"

namespace sprites {
namespace {

std::string LittleNumber(uint32_t number, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; i++) {
    bytes += static_cast<char>(number >> 8 * i & 0xFF);
  }
  return bytes;
}

std::string WaveChunk(const std::string& type, const std::string& content) {
  return type + LittleNumber(static_cast<uint32_t>(content.size()), 4) + content +
         std::string(content.size() % 2, '\0');
}

struct WaveKind {
  uint32_t tag = 1;
  uint32_t channels = 1;
  uint32_t hz = kSamplesPerSecond;
  uint32_t bits = 16;
  std::string more{};  // after the usual format
};

std::string WaveOf(const WaveKind& kind, const std::string& pcm) {
  const std::string format = LittleNumber(kind.tag, 2) + LittleNumber(kind.channels, 2) +
                             LittleNumber(kind.hz, 4) + LittleNumber(0, 4) + LittleNumber(0, 2) +
                             LittleNumber(kind.bits, 2) + kind.more;
  const std::string chunks =
      "WAVE" + WaveChunk("fmt ", format) + WaveChunk("LIST", "odd") + WaveChunk("data", pcm);
  return "RIFF" + LittleNumber(static_cast<uint32_t>(chunks.size()), 4) + chunks;
}

std::optional<Text> WhyWaveRefused(const std::string& file) {
  try {
    ReadWave(file);
  } catch (const WaveRefused& refused) {
    return refused.reason().text;
  }
  return std::nullopt;
}

TEST_CASE("wave › what the program writes is read as it is") {
  const std::vector<int16_t> samples = {1, -2, 32'767, -32'768};
  CHECK(ReadWave(WaveFile(samples)) == samples);
}

TEST_CASE("wave › samples of 8 to 32 bits, and of two channels") {
  const std::vector<int16_t> wanted = {-32'768, 0, 0x7F00};
  CHECK(ReadWave(WaveOf({.bits = 8}, std::string("\0\x80\xFF", 3))) == wanted);
  CHECK(ReadWave(WaveOf({.bits = 16}, std::string("\0\x80\0\0\0\x7F", 6))) == wanted);
  CHECK(ReadWave(WaveOf({.bits = 24}, std::string("\7\0\x80\7\0\0\7\0\x7F", 9))) == wanted);
  CHECK(ReadWave(WaveOf({.bits = 32}, std::string("\7\7\0\x80\7\7\0\0\7\7\0\x7F", 12))) == wanted);
  CHECK(ReadWave(WaveOf({.channels = 2}, LittleNumber(100, 2) + LittleNumber(50, 2))) ==
        std::vector<int16_t>{75});
  const std::string pcm_of_extensible =
      LittleNumber(22, 2) + LittleNumber(16, 2) + LittleNumber(4, 4) + LittleNumber(1, 2);
  CHECK(ReadWave(WaveOf({.tag = 0xFFFE, .more = pcm_of_extensible}, LittleNumber(9, 2))) ==
        std::vector<int16_t>{9});
}

TEST_CASE("wave › other rates become that of the program") {
  const auto size_at = [](uint32_t hz) {
    return ReadWave(WaveOf({.hz = hz}, std::string(size_t{hz} / 10 * 2, '\1'))).size();
  };
  for (const uint32_t hz : {kWaveHzMin, 22'050u, 48'000u, kWaveHzMax}) {
    CHECK(size_at(hz) == kSamplesPerSecond / 10);
  }
  // Between two samples lies their mean.
  const auto doubled =
      ReadWave(WaveOf({.hz = kSamplesPerSecond / 2}, LittleNumber(0, 2) + LittleNumber(10, 2)));
  CHECK(doubled == std::vector<int16_t>{0, 5, 10, 10});
}

TEST_CASE("wave › rates: below the lowest, the lowest, the highest, above it") {
  const auto why = [](uint32_t hz) { return WhyWaveRefused(WaveOf({.hz = hz}, "..")); };
  CHECK(why(kWaveHzMin - 1) == Text::kSoundFormat);
  CHECK(why(kWaveHzMin) == std::nullopt);
  CHECK(why(kWaveHzMax) == std::nullopt);
  CHECK(why(kWaveHzMax + 1) == Text::kSoundFormat);
}

TEST_CASE("wave › seconds: one sample less than the limit, the limit, one more") {
  for (const int more : {-1, 0, 1}) {
    const size_t moments = static_cast<size_t>(kWaveHzMin * kWaveSecondsMax + more);
    CHECK(WhyWaveRefused(WaveOf({.hz = kWaveHzMin, .bits = 8}, std::string(moments, '\x80'))) ==
          (more > 0 ? std::optional(Text::kSoundTooLong) : std::nullopt));
  }
}

TEST_CASE("wave › bytes: one less than the limit, the limit, one more") {
  const std::string wave = WaveOf({}, "..");
  for (const size_t size : {kWaveBytesMax - 1, kWaveBytesMax, kWaveBytesMax + 1}) {
    CHECK(WhyWaveRefused(wave + std::string(size - wave.size(), 'x')) ==
          (size > kWaveBytesMax ? std::optional(Text::kSoundTooLarge) : std::nullopt));
  }
}

TEST_CASE("wave › says why a file can't be played, wherever it is cut off") {
  CHECK(WhyWaveRefused("") == Text::kSoundKind);
  CHECK(WhyWaveRefused("ID3 is an MP3") == Text::kSoundKind);
  CHECK(WhyWaveRefused(WaveOf({}, "")) == Text::kSoundKind);
  CHECK(WhyWaveRefused(WaveOf({.tag = 3}, "....")) == Text::kSoundFormat);     // floating point
  CHECK(WhyWaveRefused(WaveOf({.tag = 0x55}, "....")) == Text::kSoundFormat);  // MP3 in a WAV
  CHECK(WhyWaveRefused(WaveOf({.tag = 0xFFFE}, "....")) == Text::kSoundFormat);
  CHECK(WhyWaveRefused(WaveOf({.channels = 0}, "....")) == Text::kSoundFormat);
  CHECK(WhyWaveRefused(WaveOf({.channels = 3}, "....")) == Text::kSoundFormat);
  for (const uint32_t bits : {0u, 4u, 12u, 40u, 65'535u}) {
    CHECK(WhyWaveRefused(WaveOf({.bits = bits}, "....")) == Text::kSoundFormat);
  }
  const std::string whole = WaveOf({.channels = 2}, "........");
  for (size_t size = 0; size < whole.size(); size++) {
    try {
      CHECK(ReadWave(whole.substr(0, size)).size() == 1);  // of the two samples in it
    } catch (const WaveRefused& refused) {
      CHECK(std::string(refused.what()).ends_with('.'));
    }
  }
  std::string lying = WaveOf({}, "..");
  lying.replace(lying.size() - 6, 4, "\xFF\xFF\xFF\xFF");  // a program that did not know the length
  CHECK(ReadWave(lying).size() == 1);
}

}  // namespace
}  // namespace sprites
