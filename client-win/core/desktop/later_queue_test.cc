#include "core/desktop/later_queue.h"

#include <doctest/doctest.h>

#include <vector>

namespace sprites {
namespace {

TEST_CASE("later queue › tasks: one less than the limit, the limit; one more is dropped") {
  LaterQueue queue;
  std::vector<size_t> done;
  for (size_t i = 0; i < kLaterMax + 1; i++) {
    CHECK(queue.Push([&done, i] { done.push_back(i); }) == (i < kLaterMax));
  }
  while (!queue.IsEmpty()) {
    queue.Pop()();
  }
  REQUIRE(done.size() == kLaterMax);
  CHECK(done.front() == 0);
  CHECK(done.back() == kLaterMax - 1);
}

TEST_CASE("later queue › a task that has been taken leaves room for another") {
  LaterQueue queue;
  for (size_t i = 0; i < kLaterMax; i++) {
    queue.Push([] {});
  }
  CHECK(!queue.Push([] {}));
  queue.Pop();
  CHECK(queue.Push([] {}));
}

}  // namespace
}  // namespace sprites
