#include "posix/files.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "core/desktop/files/saved_state.h"

namespace sprites {
namespace {

// A folder for one test.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("sprites-files-test-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

TEST_CASE("files › are read up to a limit: one byte less, the limit, one more") {
  const Folder folder;
  constexpr size_t kMax = 10;
  for (const size_t size : {size_t{0}, kMax - 1, kMax, kMax + 1}) {
    const std::string text(size, 'x');
    REQUIRE(WriteFileAtomically(folder / "a", text));
    const FileContent read = ReadWholeFile(folder / "a", kMax);
    CHECK(read.status == (size <= kMax ? ReadStatus::kRead : ReadStatus::kTooLong));
    CHECK(read.text == (size <= kMax ? text : ""));
  }
}

TEST_CASE("files › folders, pipes and what is not there are not read, and nothing waits for them") {
  const Folder folder;
  CHECK(ReadWholeFile(folder / "nothing", 10).status == ReadStatus::kMissing);
  CHECK(ReadWholeFile(folder / ".", 10'000).status == ReadStatus::kFailed);
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(ReadWholeFile(folder / "pipe", 10).status == ReadStatus::kFailed);
  CHECK(ReadWholeFile("/dev/zero", 10).status == ReadStatus::kFailed);
}

TEST_CASE("files › are replaced as a whole, for this user alone; a failure keeps the old content") {
  const Folder folder;
  REQUIRE(WriteFileAtomically(folder / "a", "old"));
  REQUIRE(WriteFileAtomically(folder / "a", "new"));
  CHECK(ReadWholeFile(folder / "a", 10).text == "new");
  struct stat about {};
  REQUIRE(stat((folder / "a").c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0600);
  std::filesystem::create_directories(folder / "a.part");
  CHECK(!WriteFileAtomically(folder / "a", "newer"));
  CHECK(ReadWholeFile(folder / "a", 10).text == "new");
}

TEST_CASE("files › a file that this user may not read is not taken for a missing one") {
  if (geteuid() == 0) {
    return;  // everything is allowed to root
  }
  const Folder folder;
  REQUIRE(WriteFileAtomically(folder / "a", "text"));
  REQUIRE(chmod((folder / "a").c_str(), 0) == 0);
  CHECK(ReadWholeFile(folder / "a", 10).status == ReadStatus::kFailed);
}

TEST_CASE("files › are renamed, but never over another one") {
  const Folder folder;
  REQUIRE(WriteFileAtomically(folder / "a", "one"));
  CHECK(RenameFile(folder / "a", folder / "b") == Renaming::kDone);
  CHECK(RenameFile(folder / "a", folder / "c") == Renaming::kMissing);
  REQUIRE(WriteFileAtomically(folder / "a", "two"));
  CHECK(RenameFile(folder / "a", folder / "b") == Renaming::kTaken);
  CHECK(ReadWholeFile(folder / "b", 10).text == "one");
  CHECK(RenameFile(folder / "a", folder / "no/folder") != Renaming::kDone);
  CHECK(ReadWholeFile(folder / "a", 10).text == "two");
}

TEST_CASE(
    "files › what can't be read is kept beside, and saving goes on: damaged, long, a folder") {
  for (const std::string what : {"half", "long", "folder"}) {
    CAPTURE(what);
    const Folder folder;
    const std::string text =
        what == "half" ? R"({"sprites":[{"fi)" : std::string(kSavedBytesMax + 1, ' ');
    if (what == "folder") {
      std::filesystem::create_directories(folder / "kept.json");
    } else {
      REQUIRE(WriteFileAtomically(folder / "kept.json", text));
    }
    FileAccess access = SystemFiles();
    access.sleep = [](int64_t) {};
    OwnFile file(access, folder / "kept.json", kSavedBytesMax, LegibleState);
    CHECK(file.is_unreadable());
    CHECK(file.Complaint(Language::kEnglish).ends_with("is kept as kept.json.bad."));
    CHECK(file.Write("{}"));
    CHECK(ReadWholeFile(folder / "kept.json", 10).text == "{}");
    if (what != "folder") {
      CHECK(ReadWholeFile(folder / "kept.json.bad", 2 * kSavedBytesMax).text == text);
    } else {
      CHECK(std::filesystem::is_directory(folder / "kept.json.bad"));
    }
  }
}

}  // namespace
}  // namespace sprites
