// The goals of relay.vectors.json in this client; test/relay.test.ts plays them in the page's.
#include "core/relay/crossings/goal.h"

#include <doctest/doctest.h>

#include "core/relay/crossings/edges.h"
#include "test/core/vectors.h"

namespace sprites {
namespace {

Json GoalJsonOf(const Goal& goal) {
  return {{"name", goal.name}, {"column", goal.column}, {"row", goal.row}};
}

TEST_CASE("thrown to a friend › the next step is that of the vectors") {
  const Json vectors = ReadVectors(RELAY_VECTORS);
  REQUIRE(vectors["goals"].size() > 10);
  for (const Json& one : vectors["goals"]) {
    CAPTURE(one["name"]);
    const Json& self = one["self"];
    Neighbours neighbours;
    for (const auto& [edge, name] : one["beyond"].items()) {
      neighbours[static_cast<size_t>(*EdgeNamed(edge))] = {"9-3e", name.get<std::string>()};
    }
    const auto step = NextStep(
        EntranceBy(Edge::kLeft, one).goal,
        self.is_null() ? std::nullopt : std::optional(self.get<std::string>()), neighbours);
    CHECK((step ? Json{{"edge", NameOf(step->edge)}, {"goal", GoalJsonOf(step->goal)}} : Json()) ==
          one["next"]);
  }
}

TEST_CASE(
    "thrown to a friend › a goal is read within its limits, and nobody is meant without one") {
  const auto read = [](const Json& goal) { return EntranceBy(Edge::kTop, {{"goal", goal}}).goal; };
  CHECK(read({{"name", "Eve"}, {"column", 99}, {"row", -1e9}}) == Goal{"Eve", 16, -16});
  CHECK(read({{"name", "Eve"}, {"column", "3"}}) == Goal{"Eve", 0, 0});
  CHECK(read({{"name", std::string(65, 'x')}, {"column", 1}}).name == "");
  for (const Json& none : {Json(), Json(7), Json::array(), Json{{"column", 1}}}) {
    CHECK(read(none).name == "");
    CHECK(!MotionJson(EntranceBy(Edge::kTop, {{"goal", none}})).contains("goal"));
  }
}

}  // namespace
}  // namespace sprites
