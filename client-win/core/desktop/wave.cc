#include "core/desktop/wave.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/desktop/tones.h"

namespace sprites {

namespace {

constexpr size_t kRiffBytes = 12;      // "RIFF", a length, "WAVE"
constexpr size_t kChunkHeadBytes = 8;  // type and length
constexpr size_t kFormatBytes = 16;    // of PCM
constexpr uint32_t kPcm = 1;           // also of the sub-format, at kSubFormatAt
constexpr uint32_t kExtensible = 0xFFFE;
constexpr size_t kSubFormatAt = 24;

uint32_t LittleEndian(std::string_view bytes, size_t at, size_t size) {
  uint32_t number = 0;
  for (size_t i = 0; i < size; i++) {
    number |= uint32_t{static_cast<uint8_t>(bytes[at + i])} << 8 * i;
  }
  return number;
}

struct WaveFormat {
  size_t channels = 0;
  uint32_t hz = 0;
  size_t sample_bytes = 0;
};

WaveFormat ReadFormat(std::string_view chunk) {
  const bool is_whole = chunk.size() >= kFormatBytes;
  uint32_t tag = is_whole ? LittleEndian(chunk, 0, 2) : 0;
  if (tag == kExtensible && chunk.size() >= kSubFormatAt + 2) {
    tag = LittleEndian(chunk, kSubFormatAt, 2);
  }
  if (tag != kPcm) {
    throw WaveRefused(Text::kSoundFormat);
  }
  const WaveFormat format{LittleEndian(chunk, 2, 2), LittleEndian(chunk, 4, 4),
                          LittleEndian(chunk, 14, 2) / 8};
  const bool is_known = (format.channels == 1 || format.channels == 2) && format.hz >= kWaveHzMin &&
                        format.hz <= kWaveHzMax && format.sample_bytes >= 1 &&
                        format.sample_bytes <= 4 && LittleEndian(chunk, 14, 2) % 8 == 0;
  if (!is_known) {
    throw WaveRefused(Text::kSoundFormat);
  }
  return format;
}

// A sample in 16 bits. Those of 8 bits have no sign.
int SampleAt(std::string_view pcm, size_t at, size_t bytes) {
  if (bytes == 1) {
    return (static_cast<uint8_t>(pcm[at]) - 128) * 256;
  }
  return static_cast<int16_t>(LittleEndian(pcm, at + bytes - 2, 2));
}

// One value for each moment: the mean of the channels.
std::vector<int16_t> Mixed(const WaveFormat& format, std::string_view pcm) {
  const size_t step = format.channels * format.sample_bytes;
  std::vector<int16_t> mixed;
  mixed.reserve(pcm.size() / step);
  for (size_t at = 0; at + step <= pcm.size(); at += step) {
    int sum = 0;
    for (size_t channel = 0; channel < format.channels; channel++) {
      sum += SampleAt(pcm, at + channel * format.sample_bytes, format.sample_bytes);
    }
    mixed.push_back(static_cast<int16_t>(sum / static_cast<int>(format.channels)));
  }
  return mixed;
}

// The same sound with kSamplesPerSecond. REQUIRES: there is a sample.
std::vector<int16_t> Resampled(const std::vector<int16_t>& samples, uint32_t hz) {
  const size_t count = std::max<size_t>(1, samples.size() * kSamplesPerSecond / hz);
  std::vector<int16_t> resampled;
  resampled.reserve(count);
  for (size_t i = 0; i < count; i++) {
    const double place = static_cast<double>(i) * hz / kSamplesPerSecond;
    const auto before = std::min(static_cast<size_t>(place), samples.size() - 1);
    const size_t after = std::min(before + 1, samples.size() - 1);
    const double part = place - static_cast<double>(before);
    resampled.push_back(static_cast<int16_t>(
        std::lround(samples[before] + (samples[after] - samples[before]) * std::min(part, 1.0))));
  }
  return resampled;
}

}  // namespace

std::vector<int16_t> ReadWave(std::string_view file) {
  if (file.size() > kWaveBytesMax) {
    throw WaveRefused(Text::kSoundTooLarge, {std::to_string(kWaveBytesMax >> 20)});
  }
  if (file.size() < kRiffBytes || !file.starts_with("RIFF") || file.substr(8, 4) != "WAVE") {
    throw WaveRefused(Text::kSoundKind);
  }
  WaveFormat format;
  for (size_t at = kRiffBytes; file.size() - at >= kChunkHeadBytes;) {
    const std::string_view type = file.substr(at, 4);
    const size_t length = LittleEndian(file, at + 4, 4);
    at += kChunkHeadBytes;
    const std::string_view content = file.substr(at, length);  // cut off at the end of the file
    if (type == "fmt ") {
      format = ReadFormat(content);
    } else if (type == "data" && format.channels > 0) {
      const size_t moments = content.size() / (format.channels * format.sample_bytes);
      if (moments > size_t{format.hz} * kWaveSecondsMax) {
        throw WaveRefused(Text::kSoundTooLong, {std::to_string(kWaveSecondsMax)});
      }
      if (moments > 0) {
        return Resampled(Mixed(format, content), format.hz);
      }
    }
    at = std::min(file.size(),
                  at + content.size() + content.size() % 2);  // chunks begin at even places
  }
  throw WaveRefused(Text::kSoundKind);
}

}  // namespace sprites
