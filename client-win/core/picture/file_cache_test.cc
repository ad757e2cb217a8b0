#include "core/picture/file_cache.h"

#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <random>

#include "test/core/test_spr.h"

namespace sprites {
namespace {

namespace fs = std::filesystem;

// A folder that is removed at the end of the test.
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

TEST_CASE("cache › finds what it stores, even after it is opened again") {
  const Folder folder;
  const Bytes bytes = TestSpr();
  const std::string file = Sha256Hex(bytes);
  CHECK(FileCache(folder.path(), kCacheBytesDefault).Store(file, bytes, Origin::kReceived));
  FileCache again(folder.path(), kCacheBytesDefault);
  REQUIRE(again.Find(file));
  CHECK(*again.Find(file) == bytes);
  CHECK(!again.Find(std::string(64, '0')));
}

TEST_CASE("cache › never returns a file that does not match its name") {
  const Folder folder;
  FileCache cache(folder.path(), kCacheBytesDefault);
  const Bytes bytes = TestSpr();
  const std::string file = Sha256Hex(bytes);
  cache.Store(file, bytes, Origin::kReceived);
  std::ofstream(folder.path() / "received" / file) << "spoilt";
  CHECK(!cache.Find(file));
  CHECK(!fs::exists(folder.path() / "received" / file));
}

TEST_CASE("cache › does not delete what it can't read, which may be an intact own file") {
  const Folder folder;
  FileCache cache(folder.path(), kCacheBytesDefault);
  const fs::path unreadable = folder.path() / "own" / std::string(64, 'a');
  fs::create_directory(unreadable);
  CHECK(!cache.Find(std::string(64, 'a')));
  CHECK(fs::exists(unreadable));
}

TEST_CASE("cache › removes received files only, and nothing under another name") {
  const Folder folder;
  FileCache cache(folder.path(), kCacheBytesDefault);
  const Bytes own = TestSpr(1);
  const Bytes received = TestSpr(2);
  CHECK(cache.Store(Sha256Hex(own), own, Origin::kOwn));
  CHECK(cache.Store(Sha256Hex(received), received, Origin::kReceived));
  for (const Bytes& bytes : {own, received}) {
    cache.RemoveReceived(Sha256Hex(bytes));
  }
  cache.RemoveReceived("../own");
  CHECK(cache.Find(Sha256Hex(own)));
  CHECK(!cache.Find(Sha256Hex(received)));
}

TEST_CASE("cache › ignores other names in its folder") {
  const Folder folder;
  FileCache cache(folder.path(), kCacheBytesDefault);
  for (const char* name : {"\xff\xfe", "ä", "desktop.ini", "x.part"}) {
    std::ofstream(folder.path() / "own" / name) << "x";
  }
  CHECK(cache.Own().empty());
}

TEST_CASE("cache › rejects names that are not hashes, and so every path") {
  const Folder folder;
  FileCache cache(folder.path(), kCacheBytesDefault);
  for (const std::string& name :
       {std::string("../../x"), std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'A'),
        std::string(64, '/')}) {
    CHECK(!IsFileHash(name));
    CHECK(!cache.Store(name, TestSpr(), Origin::kOwn));
    CHECK(!cache.Find(name));
  }
}

TEST_CASE(
    "cache › stays within its size: evicts the longest unused received file, never an own one") {
  const Folder folder;
  FileCache cache(folder.path(), kCacheBytesMin);
  const size_t third = kCacheBytesMin / 3;
  const std::vector<Bytes> files = {Filled(third, 1), Filled(third, 2), Filled(third, 3),
                                    Filled(third, 4)};
  const Bytes own = Filled(third, 9);
  cache.Store(Sha256Hex(own), own, Origin::kOwn);
  const auto now = fs::file_time_type::clock::now();
  for (size_t i = 0; i < 3; i++) {
    cache.Store(Sha256Hex(files[i]), files[i], Origin::kReceived);
    const auto age = std::chrono::hours(10 - static_cast<int>(i));
    fs::last_write_time(folder.path() / "received" / Sha256Hex(files[i]), now - age);
  }
  CHECK(cache.Find(Sha256Hex(files[0])));  // it counts as used now
  CHECK(cache.Store(Sha256Hex(files[3]), files[3], Origin::kReceived));
  CHECK(cache.Find(Sha256Hex(files[0])));
  CHECK(!cache.Find(Sha256Hex(files[1])));
  CHECK(cache.Find(Sha256Hex(files[2])));
  CHECK(cache.Find(Sha256Hex(files[3])));
  CHECK(cache.Find(Sha256Hex(own)));
  CHECK(cache.Own() == std::vector{Sha256Hex(own)});
}

TEST_CASE("cache › stores files up to the size that a sprite may have") {
  const Folder folder;
  FileCache cache(folder.path(), kCacheBytesDefault);
  for (const size_t size : {kSprBytesMax - 1, kSprBytesMax, kSprBytesMax + 1}) {
    const Bytes bytes = Filled(size, 5);
    CHECK(cache.Store(Sha256Hex(bytes), bytes, Origin::kReceived) == (size <= kSprBytesMax));
  }
}

TEST_CASE("cache › a file that the person has replaced is own no more, but still there") {
  const Folder folder;
  FileCache cache(folder.path(), kCacheBytesDefault);
  const Bytes bytes = TestSpr();
  cache.Store(Sha256Hex(bytes), bytes, Origin::kOwn);
  cache.Disown("../own");  // not a hash
  cache.Disown(Sha256Hex(bytes));
  cache.Disown(Sha256Hex(bytes));
  CHECK(cache.Own().empty());
  CHECK(cache.Find(Sha256Hex(bytes)) == bytes);
}

TEST_CASE("cache › finds and stores nothing where it can't write, and does not fail") {
  FileCache cache("/proc/nowhere", kCacheBytesDefault);
  const Bytes bytes = TestSpr();
  CHECK(!cache.Store(Sha256Hex(bytes), bytes, Origin::kOwn));
  CHECK(!cache.Find(Sha256Hex(bytes)));
  CHECK(cache.Own().empty());
  CHECK(StoreOwn(&cache, bytes)->file == Sha256Hex(bytes));
}

}  // namespace
}  // namespace sprites
