#include "core/desktop/files/old_dumps.h"

#include <doctest/doctest.h>

#include <string>

namespace sprites {
namespace {

TEST_CASE("old dumps › with one more there are as many as the limit allows, and the oldest go") {
  for (size_t count = 0; count <= kMinidumpsMax + 2; count++) {
    std::vector<std::filesystem::path> dumps;
    for (size_t i = count; i > 0; i--) {
      dumps.emplace_back("sprites-" + std::to_string(i) + ".dmp");  // not in their order
    }
    const auto old = OldDumps(dumps);
    CHECK(old.size() == (count < kMinidumpsMax ? 0 : count - kMinidumpsMax + 1));
    CHECK((old.empty() || old.front() == "sprites-1.dmp"));
  }
}

}  // namespace
}  // namespace sprites
