#include "core/desktop/silhouettes.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "test/core/peek_vectors.h"

namespace sprites {
namespace {

// The event as a poll brings it. The files of a vector are two digits each.
StageEvent EventOf(Json event) {
  for (Json& file : event["files"]) {
    file = HashOf(file);
  }
  const auto batch = ReadBatch(WriteJson({{"cursor", "1-1"}, {"events", {event}}}));
  REQUIRE(batch);
  REQUIRE(batch->stages.size() == 1);
  CHECK(batch->momentary == 1);
  return batch->stages[0];
}

TEST_CASE("silhouettes › have the constants of the vectors") {
  const Json constants = PeekVectors()["constants"];
  CHECK(constants["SILENCE_MS"] == kSilenceMs);
  CHECK(constants["PREDICTED_MS"] == kPredictedMs);
  CHECK(constants["GLIDE_MS"] == kGlideMs);
  CHECK(constants["JUMP_PX"] == kJumpDip);
}

TEST_CASE("silhouettes › are where the vectors have them") {
  for (const Json& one : PeekVectors()["silhouettes"]) {
    CAPTURE(one["name"].get<std::string>());
    const DipSize here{one["here"]["width"], one["here"]["height"]};
    Silhouettes silhouettes;
    size_t look = 0;
    for (const Json& act : one["script"]) {
      CAPTURE(act.dump());
      if (act.contains("stage")) {
        silhouettes.Receive(EventOf(act["stage"]), act["ms"]);
        continue;
      }
      const auto shown = silhouettes.At(act["ms"], here);
      const Json& expected = one["expect"][look++];
      REQUIRE(shown.size() == expected.size());
      for (size_t i = 0; i < shown.size(); i++) {
        const Json& other = expected[i];
        CHECK(shown[i].id == other["id"]);
        CHECK(shown[i].file == HashOf(other["file"]));
        CHECK(RulesOf(shown[i].animation).animation == other["animation"]);
        CHECK((shown[i].facing == Facing::kLeft ? "left" : "right") == other["facing"]);
        CHECK(shown[i].scale == other["scale"]);
        CHECK(shown[i].since_ms == other["sinceMs"]);
        CHECK(shown[i].place.x == doctest::Approx(other["x"].get<double>()).epsilon(1e-6));
        CHECK(shown[i].place.y == doctest::Approx(other["y"].get<double>()).epsilon(1e-6));
      }
    }
    CHECK(look == one["expect"].size());
  }
}

TEST_CASE("silhouettes › each has a key of its own, and keeps it while it is shown") {
  Json event = {
      {"type", "stage"},
      {"edge", "left"},
      {"from", {{"desktop", "1-1"}, {"name", "Bob"}}},
      {"width", 800},
      {"height", 600},
      {"files", {"ab"}},
      {"sprites", {{{"id", 0}, {"x", 1}, {"y", 1}}, {{"id", 4'294'967'295}, {"x", 1}, {"y", 1}}}}};
  Silhouettes silhouettes;
  silhouettes.Receive(EventOf(event), 0);
  const auto first = silhouettes.At(0, {800, 600});
  REQUIRE(first.size() == 2);
  CHECK(first[0].key != kNobody);
  CHECK(first[1].key != kNobody);
  CHECK(first[0].key != first[1].key);
  std::swap(event["sprites"][0], event["sprites"][1]);
  silhouettes.Receive(EventOf(event), 0);
  CHECK(silhouettes.At(0, {800, 600})[1].key == first[0].key);
  silhouettes.Clear();
  silhouettes.Receive(EventOf(event), 0);
  CHECK(silhouettes.At(0, {800, 600})[1].key > first[1].key);
}

}  // namespace
}  // namespace sprites
