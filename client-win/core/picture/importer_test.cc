#include "core/picture/importer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <mutex>

#include "core/picture/png.h"
#include "test/core/test_spr.h"

namespace sprites {
namespace {

// A folder with files, and an importer whose own decoder knows one kind of file.
class Room {
 public:
  Room() : folder_(std::filesystem::temp_directory_path() / "sprites-importer-test") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Room() { std::filesystem::remove_all(folder_); }

  std::filesystem::path Write(const std::string& name, std::span<const uint8_t> bytes) {
    std::ofstream file(folder_ / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return folder_ / name;
  }

  // Imports files and waits for all results.
  std::vector<ImportResult> Import(const std::vector<std::filesystem::path>& paths) {
    FileCache cache(folder_ / "files", kCacheBytesDefault);
    std::mutex mutex;
    std::condition_variable woken;
    size_t wakes = 0;
    const auto decode = [](std::span<const uint8_t> bytes) {
      if (bytes.size() != 3) {
        throw PictureUnknown(Text::kPictureKindLinux);
      }
      return Picture{2, 2, {{Bytes(16, 255), 0}}};
    };
    Importer importer(&cache, decode, [&] {
      const std::lock_guard lock(mutex);
      wakes++;
      woken.notify_all();
    });
    importer.Import(paths);
    std::unique_lock lock(mutex);
    woken.wait(lock, [&] { return wakes == paths.size(); });
    return importer.PopResults();
  }

 private:
  std::filesystem::path folder_;
};

TEST_CASE("importer › files of a drop: one less than the limit, the limit; more are left out") {
  const auto same = [](size_t i) { return i; };
  for (const size_t count : {kDroppedFilesMax - 1, kDroppedFilesMax, kDroppedFilesMax + 1}) {
    const auto paths = DroppedPaths(count, same);
    CHECK(paths.size() == std::min(count, kDroppedFilesMax));
    CHECK(paths.back() == paths.size() - 1);
  }
  CHECK(DroppedPaths(0xFFFFFFFF, same).size() == kDroppedFilesMax);
  CHECK(DroppedPaths(0, same).empty());
}

TEST_CASE("importer › a .spr is stored as it is, another picture is converted by the shell") {
  Room room;
  const Bytes spr = TestSpr(0);
  const auto results = room.Import({room.Write("a.spr", spr), room.Write("b.kind", Bytes(3, 7))});
  REQUIRE(results.size() == 2);
  CHECK(!results[0].error);
  REQUIRE(results[0].sheet);
  CHECK(results[0].sheet->file == Sha256Hex(spr));
  CHECK(!results[1].error);
  REQUIRE(results[1].sheet);
  CHECK(results[1].sheet->description.name == "b");
}

TEST_CASE("importer › files that wait: one less than the limit, the limit, one more") {
  for (const size_t count : {kImportsMax - 1, kImportsMax, kImportsMax + 1}) {
    const std::filesystem::path folder = std::filesystem::temp_directory_path();
    FileCache cache(folder / "sprites-imports-test", kCacheBytesDefault);
    std::mutex mutex;
    std::condition_variable woken;
    bool is_free = false;
    // The first file is being imported, and so waits no more, until the others have been added.
    bool has_begun = false;
    const auto decode = [&](std::span<const uint8_t>) -> Picture {
      std::unique_lock lock(mutex);
      has_begun = true;
      woken.notify_all();
      woken.wait(lock, [&] { return is_free; });
      throw PictureUnknown(Text::kPictureKindLinux);
    };
    const auto letter = folder / "sprites-imports-test-letter";
    std::ofstream(letter) << "Dear Grace,";
    size_t rejected = 0;
    {
      Importer importer(&cache, decode, [] {});
      importer.Import({letter});
      {
        std::unique_lock lock(mutex);
        woken.wait(lock, [&] { return has_begun; });
      }
      importer.Import(std::vector<std::filesystem::path>(count, letter));
      rejected = importer.PopResults().size();
      const std::lock_guard lock(mutex);
      is_free = true;
      woken.notify_all();
    }
    CHECK(rejected == (count > kImportsMax ? 1 : 0));
    std::filesystem::remove(letter);
    std::filesystem::remove_all(folder / "sprites-imports-test");
  }
}

TEST_CASE("importer › each file that can't be imported has a reason, and a name") {
  Room room;
  const auto results =
      room.Import({room.Write("letter.txt", Bytes(40, 'x')), "/nowhere/at/all.png", "/"});
  REQUIRE(results.size() == 3);
  CHECK(results[0].name == "letter.txt");
  CHECK(results[0].error == Reason{Text::kPictureKindLinux});
  CHECK(results[1].name == "all.png");
  CHECK(results[1].error == Reason{Text::kImportUnreadable, {"32"}});
  CHECK(Say(Language::kEnglish, *results[1].error) ==
        "The file can't be read, or is larger than 32 MiB.");
  CHECK(Say(Language::kGerman, *results[1].error) ==
        "Die Datei ist nicht lesbar oder größer als 32 MiB.");
  CHECK(results[2].error);
  for (const ImportResult& result : results) {
    CHECK(result.sheet == nullptr);
  }
}

}  // namespace
}  // namespace sprites
