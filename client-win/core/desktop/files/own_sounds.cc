#include "core/desktop/files/own_sounds.h"

#include <fstream>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "core/desktop/tones.h"
#include "core/desktop/wave.h"

namespace sprites {

namespace fs = std::filesystem;

OwnSounds::OwnSounds(fs::path folder, std::function<void(const char*, const Reason&)> wrong)
    : folder_(std::move(folder)), wrong_(std::move(wrong)) {}

std::vector<int16_t> OwnSounds::SamplesOf(Sound sound, int volume) {
  const auto index = static_cast<size_t>(sound);
  Read(index);
  if (sounds_[index].samples.empty()) {
    return sprites::SamplesOf(sound, volume);
  }
  std::vector<int16_t> samples = sounds_[index].samples;
  for (int16_t& sample : samples) {
    sample =
        static_cast<int16_t>(sample * (kTonePeak * volume) / std::numeric_limits<int16_t>::max());
  }
  return samples;
}

bool OwnSounds::MakeFolder() const {
  std::error_code failed;
  fs::create_directories(folder_, failed);
  return fs::is_directory(folder_, failed);
}

// Reads a file again if it has changed.
void OwnSounds::Read(size_t index) {
  Own& own = sounds_[index];
  const fs::path path = folder_ / kSoundFiles[index];
  std::error_code failed;
  const bool is_file = fs::is_regular_file(path, failed);
  const auto changed = is_file ? fs::last_write_time(path, failed) : fs::file_time_type{};
  const uintmax_t size = is_file && !failed ? fs::file_size(path, failed) : 0;
  if (!is_file || failed) {
    own = {};
    return;
  }
  if (changed == own.changed && size == own.size) {
    return;
  }
  own = {changed, size, {}};
  try {
    std::string bytes;
    if (size <= kWaveBytesMax) {
      bytes.resize(size);
      std::ifstream file(path, std::ios::binary);
      file.read(bytes.data(), static_cast<std::streamsize>(size));
      failed = file ? std::error_code() : std::make_error_code(std::errc::io_error);
    }
    if (failed || size > kWaveBytesMax) {
      throw WaveRefused(Text::kSoundTooLarge, {std::to_string(kWaveBytesMax >> 20)});
    }
    own.samples = ReadWave(bytes);
  } catch (const WaveRefused& refused) {
    wrong_(kSoundFiles[index], refused.reason());
  }
}

}  // namespace sprites
