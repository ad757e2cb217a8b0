// The journeys of relay.vectors.json in this client; test/relay.test.ts plays them in the page's.
#include "core/relay/crossings/journey.h"

#include <doctest/doctest.h>

#include "test/core/vectors.h"

namespace sprites {
namespace {

TEST_CASE("journeys › are read and get longer as the vectors say") {
  const Json vectors = ReadVectors(RELAY_VECTORS);
  REQUIRE(vectors["journeys"].size() > 10);
  for (const Json& one : vectors["journeys"]) {
    CAPTURE(one["name"]);
    const Journey next = Travelled(JourneyIn(one["journey"]), one["thrower"].get<std::string>(),
                                   one["author"].get<std::string>(), one["nowS"].get<int64_t>());
    CHECK(JourneyToJson(next) == one["next"]);
    CHECK(JourneyIn(one["next"]) == next);
  }
}

}  // namespace
}  // namespace sprites
