#include "core/desktop/files/state_writer.h"

#include <doctest/doctest.h>

namespace sprites {
namespace {

// A disk that the test lets succeed or fail, and a desktop's thread that waits for it.
struct SlowDisk {
  bool Write(const std::string& text) {
    const std::lock_guard lock(mutex);
    tries++;
    if (works) {
      written = text;
    }
    changed.notify_all();
    return works;
  }
  void Wake() {
    const std::lock_guard lock(mutex);
    wakes++;
    changed.notify_all();
  }
  template <typename Condition>
  void Await(Condition condition) {
    std::unique_lock lock(mutex);
    changed.wait(lock, condition);
  }
  void SetWorks(bool now_works) {
    const std::lock_guard lock(mutex);
    works = now_works;
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool works = true;
  int tries = 0;
  int wakes = 0;
  std::string written;
};

Request PollOf(RequestId id) {
  Request request;
  request.id = id;
  return request;
}

TEST_CASE(
    "state writer › wakes the desktop when the state is on disk, and only then lets it poll") {
  SlowDisk disk;
  StateWriter writer([&](const std::string& text) { return disk.Write(text); },
                     [&] { disk.Wake(); });
  CHECK(writer.IsIdle());
  writer.Add("one", {PollOf(1)});
  disk.Await([&] { return disk.wakes == 1; });
  CHECK(disk.written == "one");
  REQUIRE(writer.PopRequests().size() == 1);
  CHECK(writer.IsIdle());
}

TEST_CASE("state writer › does not poll while the disk fails, and does when it works again") {
  SlowDisk disk;
  disk.works = false;
  StateWriter writer([&](const std::string& text) { return disk.Write(text); },
                     [&] { disk.Wake(); });
  writer.Add("one", {PollOf(1)});
  disk.Await([&] { return disk.tries >= 2; });
  CHECK(writer.PopRequests().empty());
  disk.SetWorks(true);
  disk.Await([&] { return disk.written == "one"; });
  size_t popped = 0;
  while (popped == 0) {
    const int seen = disk.wakes;
    popped = writer.PopRequests().size();
    if (popped == 0) {
      disk.Await([&] { return disk.wakes > seen; });
    }
  }
  CHECK(popped == 1);
}

TEST_CASE("state writer › writes the last state before it ends, and tries once if that fails") {
  for (const bool works : {true, false}) {
    SlowDisk disk;
    disk.works = works;
    {
      StateWriter writer([&](const std::string& text) { return disk.Write(text); },
                         [&] { disk.Wake(); });
      writer.Add("last", {});
    }
    CHECK(disk.tries >= 1);
    CHECK(disk.written == (works ? "last" : ""));
  }
}

}  // namespace
}  // namespace sprites
