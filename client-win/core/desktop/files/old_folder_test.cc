#include "core/desktop/files/old_folder.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace sprites {
namespace {

namespace fs = std::filesystem;

std::string TextIn(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Write(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// Two folders on disk, which go with the object.
struct Folders {
  Folders() : root(fs::temp_directory_path() / "sprites-old-folder-test") { fs::remove_all(root); }
  ~Folders() { fs::remove_all(root); }

  FileAccess Access() {
    return {[this](const fs::path& path, size_t) -> FileContent {
              if (is_locked) {
                return {ReadStatus::kFailed, ""};
              }
              return fs::exists(path) ? FileContent{ReadStatus::kRead, TextIn(path)}
                                      : FileContent{ReadStatus::kMissing, ""};
            },
            [](const fs::path& path, std::string_view text) {
              Write(path, text);
              return true;
            },
            {},
            {}};
  }
  bool Move() { return MoveOldFiles(from, to, Access()); }

  fs::path root;
  fs::path from = root / "Roaming" / "Sprites";
  fs::path to = root / "Local" / "Sprites";
  bool is_locked = false;
};

TEST_CASE("old folder › moves the files of version 0.1, and removes the folder") {
  Folders folders;
  Write(folders.from / "kept.json", "{}");
  Write(folders.from / "settings.json", R"({"name":"Ada"})");
  Write(folders.from / "files" / "own" / "a.spr", "picture");
  CHECK(folders.Move());
  CHECK(TextIn(folders.to / "kept.json") == "{}");
  CHECK(TextIn(folders.to / "settings.json") == R"({"name":"Ada"})");
  CHECK(TextIn(folders.to / "files" / "own" / "a.spr") == "picture");
  CHECK(!fs::exists(folders.from));
}

TEST_CASE("old folder › leaves a folder alone that another program made") {
  for (const bool has_state : {false, true}) {
    Folders folders;
    Write(folders.from / "settings.json", R"({"volume":3})");
    Write(folders.from / "files" / "game.bin", "theirs");
    if (has_state) {
      Write(folders.from / "kept.json", "no state of this program");
    }
    CHECK(folders.Move());
    CHECK(TextIn(folders.from / "settings.json") == R"({"volume":3})");
    CHECK(TextIn(folders.from / "files" / "game.bin") == "theirs");
    CHECK(!fs::exists(folders.to));
  }
}

TEST_CASE("old folder › keeps what is not its own in a folder that both programs use") {
  Folders folders;
  Write(folders.from / "kept.json", "{}");
  Write(folders.from / "game.sav", "theirs");
  CHECK(folders.Move());
  CHECK(fs::exists(folders.to / "kept.json"));
  CHECK(!fs::exists(folders.from / "kept.json"));
  CHECK(TextIn(folders.from / "game.sav") == "theirs");
}

TEST_CASE("old folder › moves nothing when the new one has a state, or the old one is locked") {
  Folders folders;
  Write(folders.from / "kept.json", "{}");
  folders.is_locked = true;
  CHECK(!folders.Move());
  CHECK(!fs::exists(folders.to / "kept.json"));
  folders.is_locked = false;
  Write(folders.to / "kept.json", R"({"next":7})");
  CHECK(folders.Move());
  CHECK(TextIn(folders.to / "kept.json") == R"({"next":7})");
  CHECK(fs::exists(folders.from / "kept.json"));
}

}  // namespace
}  // namespace sprites
