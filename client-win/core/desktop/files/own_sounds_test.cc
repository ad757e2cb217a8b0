#include "core/desktop/files/own_sounds.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <utility>

#include "core/desktop/files/settings.h"
#include "core/desktop/tones.h"
#include "core/desktop/wave.h"

namespace sprites {
namespace {

// A folder of the person's own sounds.
struct SoundRoom {
  SoundRoom() : folder(std::filesystem::temp_directory_path() / "sprites-own-sounds-test") {
    std::filesystem::remove_all(folder);
  }
  ~SoundRoom() { std::filesystem::remove_all(folder); }

  void Write(const char* name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    // Later than before, whatever the clock of the disk.
    written += std::chrono::seconds(10);
    std::filesystem::last_write_time(folder / name, written);
  }

  std::filesystem::path folder;
  std::filesystem::file_time_type written = std::filesystem::file_time_type::clock::now();
  std::vector<std::pair<std::string, Text>> wrong;
  OwnSounds sounds{folder, [this](const char* name, const Reason& reason) {
                     wrong.emplace_back(name, reason.text);
                   }};
};

const std::vector<int16_t> kLoud = {32'767, -32'767, 3'277};

TEST_CASE("own sounds › without a file the tone of the program is played") {
  SoundRoom room;
  CHECK(room.sounds.SamplesOf(Sound::kLand, 40) == SamplesOf(Sound::kLand, 40));
  CHECK(room.sounds.MakeFolder());
  CHECK(room.sounds.MakeFolder());
  CHECK(room.sounds.SamplesOf(Sound::kLand, 40) == SamplesOf(Sound::kLand, 40));
  CHECK(room.wrong.empty());
}

TEST_CASE("own sounds › each file is played instead of its sound, not louder than a tone") {
  SoundRoom room;
  room.sounds.MakeFolder();
  for (size_t i = 0; i < kSoundFiles.size(); i++) {
    const auto sound = static_cast<Sound>(i);
    room.Write(kSoundFiles[i], WaveFile(kLoud));
    CHECK(room.sounds.SamplesOf(sound, kVolumeMax) == std::vector<int16_t>{10'000, -10'000, 1'000});
    CHECK(room.sounds.SamplesOf(sound, 50) == std::vector<int16_t>{5'000, -5'000, 500});
    CHECK(room.sounds.SamplesOf(sound, kVolumeMin) == std::vector<int16_t>{0, 0, 0});
  }
  CHECK(room.wrong.empty());
}

TEST_CASE("own sounds › a file that is changed or removed counts at once") {
  SoundRoom room;
  room.sounds.MakeFolder();
  const auto size = [&] { return room.sounds.SamplesOf(Sound::kThrow, 50).size(); };
  room.Write("throw.wav", WaveFile(std::vector<int16_t>{1}));
  CHECK(size() == 1);
  room.Write("throw.wav", WaveFile(std::vector<int16_t>{1, 2}));
  CHECK(size() == 2);
  std::filesystem::remove(room.folder / "throw.wav");
  CHECK(room.sounds.SamplesOf(Sound::kThrow, 50) == SamplesOf(Sound::kThrow, 50));
}

TEST_CASE("own sounds › a wrong file is reported once, and the tone is played") {
  SoundRoom room;
  room.sounds.MakeFolder();
  room.Write("arrive.wav", "Dear Grace,");
  room.Write("land.wav", std::string(kWaveBytesMax + 1, 'x'));
  for (int times = 0; times < 2; times++) {
    for (const Sound sound : {Sound::kArrive, Sound::kLand}) {
      CHECK(room.sounds.SamplesOf(sound, 50) == SamplesOf(sound, 50));
    }
  }
  const std::vector<std::pair<std::string, Text>> wrong = {{"arrive.wav", Text::kSoundKind},
                                                           {"land.wav", Text::kSoundTooLarge}};
  CHECK(room.wrong == wrong);
  room.Write("arrive.wav", "Yours, Ada");
  room.sounds.SamplesOf(Sound::kArrive, 50);
  CHECK(room.wrong.size() == 3);
}

}  // namespace
}  // namespace sprites
