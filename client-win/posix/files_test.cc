#include "posix/files.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

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
    const auto read = ReadWholeFile(folder / "a", kMax);
    CHECK(read.has_value() == (size <= kMax));
    CHECK(read.value_or(text) == text);
  }
}

TEST_CASE("files › folders, pipes and what is not there are not read, and nothing waits for them") {
  const Folder folder;
  CHECK(!ReadWholeFile(folder / "nothing", 10));
  CHECK(!ReadWholeFile(folder / ".", 10'000));
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(!ReadWholeFile(folder / "pipe", 10));
  CHECK(!ReadWholeFile("/dev/zero", 10));
}

TEST_CASE("files › are replaced as a whole, for this user alone; a failure keeps the old content") {
  const Folder folder;
  REQUIRE(WriteFileAtomically(folder / "a", "old"));
  REQUIRE(WriteFileAtomically(folder / "a", "new"));
  CHECK(ReadWholeFile(folder / "a", 10) == "new");
  struct stat about {};
  REQUIRE(stat((folder / "a").c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0600);
  std::filesystem::create_directories(folder / "a.part");
  CHECK(!WriteFileAtomically(folder / "a", "newer"));
  CHECK(ReadWholeFile(folder / "a", 10) == "new");
}

}  // namespace
}  // namespace sprites
