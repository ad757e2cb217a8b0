#include "core/picture/file_cache.h"

#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <random>

#include "core/picture/test_spr.h"

namespace sprites {
namespace {

namespace fs = std::filesystem;

// A folder that is gone at the end of the test.
class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() / ("sprites-" + std::to_string(std::random_device{}()))) {}
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Bytes Filled(size_t size, uint8_t with) { return Bytes(size, with); }

TEST_CASE("cache › finds what it keeps, also when it is opened again") {
  const Folder folder;
  const Bytes bytes = TestSpr();
  const std::string file = Sha256Hex(bytes);
  CHECK(FileCache(folder.path(), kCacheBytesDefault).Keep(file, bytes, Origin::kReceived));
  FileCache again(folder.path(), kCacheBytesDefault);
  REQUIRE(again.Find(file));
  CHECK(*again.Find(file) == bytes);
  CHECK(!again.Find(std::string(64, '0')));
}

TEST_CASE("cache › never gives out a file that is not of its name") {
  const Folder folder;
  FileCache cache(folder.path(), kCacheBytesDefault);
  const Bytes bytes = TestSpr();
  const std::string file = Sha256Hex(bytes);
  cache.Keep(file, bytes, Origin::kReceived);
  std::ofstream(folder.path() / "received" / file) << "spoilt";
  CHECK(!cache.Find(file));
  CHECK(!fs::exists(folder.path() / "received" / file));
}

TEST_CASE("cache › leaves alone what it can't read: it may be well, and somebody's own") {
  const Folder folder;
  FileCache cache(folder.path(), kCacheBytesDefault);
  const fs::path unreadable = folder.path() / "own" / std::string(64, 'a');
  fs::create_directory(unreadable);
  CHECK(!cache.Find(std::string(64, 'a')));
  CHECK(fs::exists(unreadable));
}

TEST_CASE("cache › passes over names in its folder that are none of its own") {
  const Folder folder;
  FileCache cache(folder.path(), kCacheBytesDefault);
  for (const char* name : {"\xff\xfe", "ä", "desktop.ini", "x.part"}) {
    std::ofstream(folder.path() / "own" / name) << "x";
  }
  CHECK(cache.Own().empty());
}

TEST_CASE("cache › takes no name that is no hash, so none that is a path") {
  const Folder folder;
  FileCache cache(folder.path(), kCacheBytesDefault);
  for (const std::string& name :
       {std::string("../../x"), std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'A'),
        std::string(64, '/')}) {
    CHECK(!IsFileHash(name));
    CHECK(!cache.Keep(name, TestSpr(), Origin::kOwn));
    CHECK(!cache.Find(name));
  }
}

TEST_CASE(
    "cache › keeps within its size: of what was received the longest unused goes, own files stay") {
  const Folder folder;
  FileCache cache(folder.path(), kCacheBytesMin);
  const size_t third = kCacheBytesMin / 3;
  const std::vector<Bytes> files = {Filled(third, 1), Filled(third, 2), Filled(third, 3),
                                    Filled(third, 4)};
  const Bytes own = Filled(third, 9);
  cache.Keep(Sha256Hex(own), own, Origin::kOwn);
  const auto now = fs::file_time_type::clock::now();
  for (size_t i = 0; i < 3; i++) {
    cache.Keep(Sha256Hex(files[i]), files[i], Origin::kReceived);
    const auto age = std::chrono::hours(10 - static_cast<int>(i));
    fs::last_write_time(folder.path() / "received" / Sha256Hex(files[i]), now - age);
  }
  CHECK(cache.Find(Sha256Hex(files[0])));  // used just now
  CHECK(cache.Keep(Sha256Hex(files[3]), files[3], Origin::kReceived));
  CHECK(cache.Find(Sha256Hex(files[0])));
  CHECK(!cache.Find(Sha256Hex(files[1])));
  CHECK(cache.Find(Sha256Hex(files[2])));
  CHECK(cache.Find(Sha256Hex(files[3])));
  CHECK(cache.Find(Sha256Hex(own)));
  CHECK(cache.Own() == std::vector{Sha256Hex(own)});
}

TEST_CASE("cache › keeps files up to the size a sprite may have") {
  const Folder folder;
  FileCache cache(folder.path(), kCacheBytesDefault);
  for (const size_t size : {kSprBytesMax - 1, kSprBytesMax, kSprBytesMax + 1}) {
    const Bytes bytes = Filled(size, 5);
    CHECK(cache.Keep(Sha256Hex(bytes), bytes, Origin::kReceived) == (size <= kSprBytesMax));
  }
}

TEST_CASE("cache › finds nothing and keeps nothing where it can't write, and says no more") {
  FileCache cache("/proc/nowhere", kCacheBytesDefault);
  const Bytes bytes = TestSpr();
  CHECK(!cache.Keep(Sha256Hex(bytes), bytes, Origin::kOwn));
  CHECK(!cache.Find(Sha256Hex(bytes)));
  CHECK(cache.Own().empty());
  CHECK(KeepOwn(&cache, bytes)->file == Sha256Hex(bytes));
}

}  // namespace
}  // namespace sprites
