#include "core/relay/stages/stage.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/picture/sheet.h"
#include "core/relay/crossings/edges.h"
#include "test/core/peek_vectors.h"
#include "wire/rules.h"

namespace sprites {
namespace {

bool IsAny(const std::string&) { return true; }

Sprite StandingSprite(const Json& one) {
  Sprite sprite;
  sprite.id = one["id"];
  sprite.file = HashOf(one["picture"]);
  sprite.x = one["x"];
  sprite.y = one["y"];
  sprite.vx = one["vx"];
  sprite.vy = one["vy"];
  sprite.mode = ModeNamed(one["mode"].get<std::string>()).value();
  sprite.facing = one["facing"] == "left" ? Facing::kLeft : Facing::kRight;
  sprite.scale = one["scale"];
  return sprite;
}

// A desktop with one monitor.
Simulation DesktopOf(double width, double height, double scale = 1) {
  Simulation simulation;
  const Rect all{0, 0, width, height};
  simulation.SetScreen(Screen(std::vector<Monitor>{{all, all, scale, true}}));
  return simulation;
}

// The stage of a vector, whose files are two digits each.
Stage StageOfVector(Json stage) {
  for (Json& file : stage["files"]) {
    file = HashOf(file);
  }
  const auto read = StageIn(stage);
  REQUIRE(read);
  return *read;
}

TEST_CASE("stages › have the constants of the vectors") {
  const Json constants = PeekVectors()["constants"];
  CHECK(constants["STAGE_DEPTH"] == kStageDepth);
  CHECK(constants["STAGE_TOLERANCE"] == kStageTolerance);
}

TEST_CASE("stages › are those of the vectors") {
  for (const Json& one : PeekVectors()["stages"]) {
    CAPTURE(one["name"].get<std::string>());
    Simulation simulation = DesktopOf(one["width"], one["height"]);
    for (const Json& sprite : one["sprites"]) {
      simulation.Put(StandingSprite(sprite));
    }
    const auto edges = EdgesNamed(one["edges"]);
    REQUIRE(edges);
    const Stage stage = StageOf(simulation, *edges, IsAny, false);
    Json found = Json::parse(StageJson(stage));
    CHECK(StageJson(stage).size() <= kStageBytesMax - kStageBytesFree);
    for (Json& file : found["files"]) {
      file = file.get<std::string>().substr(0, 2);
    }
    CHECK(found == one["expect"]);
  }
}

TEST_CASE("stages › are news when the vectors say so") {
  for (const Json& one : PeekVectors()["news"]) {
    CAPTURE(one["name"].get<std::string>());
    const Stage posted = StageOfVector(one["posted"]);
    for (const Json& later : one["later"]) {
      CAPTURE(later.dump());
      CHECK(IsNews(posted, later["ms"], StageOfVector(later["stage"])) == later["isNews"]);
    }
  }
}

TEST_CASE("stages › leave out pictures that may not be shown, and have no speeds while paused") {
  Simulation simulation = DesktopOf(2000, 1000);
  Sprite sprite;
  sprite.mode = Mode::kWalk;
  sprite.vx = 60;
  for (const char* picture : {"01", "02"}) {
    sprite.id++;
    sprite.file = HashOf(picture);
    simulation.Put(sprite);
  }
  const Edge left[] = {Edge::kLeft};
  const auto is_shown = [](const std::string& file) { return file != HashOf("01"); };
  const Stage stage = StageOf(simulation, left, is_shown, false);
  CHECK(stage.files == std::vector{HashOf("02")});
  REQUIRE(stage.sprites.size() == 1);
  CHECK(stage.sprites[0].vx == 60);
  CHECK(StageOf(simulation, left, is_shown, true).sprites[0].vx == 0);
  CHECK(StageOf(simulation, {}, IsAny, false).sprites.empty());
}

TEST_CASE("stages › are in dip of the whole desktop, whatever the monitors' scales and places") {
  Simulation simulation;
  const Rect left{-3840, 0, 0, 2160};
  const Rect right{0, 0, 1920, 1080};
  simulation.SetScreen(
      Screen(std::vector<Monitor>{{left, left, 2, true}, {right, right, 1, false}}));
  Sprite sprite;
  sprite.id = 1;
  sprite.file = HashOf("01");
  sprite.mode = Mode::kWalk;
  sprite.vx = 60;
  sprite.x = -3740;
  sprite.y = 2160;
  simulation.Put(sprite);
  sprite.id = 2;
  sprite.x = 1900;
  sprite.y = 1080;
  sprite.monitor = 1;
  simulation.Put(sprite);
  const Edge both[] = {Edge::kLeft, Edge::kRight};
  const Stage stage = StageOf(simulation, both, IsAny, false);
  CHECK(stage.width == 2880);
  CHECK(stage.height == 1080);
  REQUIRE(stage.sprites.size() == 2);
  CHECK(stage.sprites[0].x == 2870);
  CHECK(stage.sprites[0].vx == 30);  // a dip there is half a dip of the primary monitor
  CHECK(stage.sprites[1].x == 50);
  CHECK(stage.sprites[1].y == 1080);
  CHECK(stage.sprites[1].vx == 60);
}

TEST_CASE("stages › in events are read field by field and within limits") {
  const std::string file = HashOf("ab");
  const auto with = [&](const Json& sprite) {
    const auto stage =
        StageIn({{"width", 1920}, {"height", 1080}, {"files", {file, "x"}}, {"sprites", {sprite}}});
    REQUIRE(stage);
    return *stage;
  };
  const StageSprite plain = with({{"id", 7}, {"x", 1890}, {"y", 1040}}).sprites.at(0);
  CHECK(plain.id == 7);
  CHECK(plain.x == 1890);
  CHECK(plain.animation == Mode::kIdle);
  CHECK(plain.scale == 1);
  constexpr uint64_t kIdMax = UINT32_MAX;
  for (const uint64_t id : {kIdMax - 1, kIdMax, kIdMax + 1}) {
    CHECK(with({{"id", id}}).sprites.at(0).id == std::min(id, kIdMax));
  }
  const StageSprite wild = with({{"id", -1},
                                 {"x", 1e300},
                                 {"y", "no"},
                                 {"vx", -1e9},
                                 {"animation", "dance"},
                                 {"facing", 3},
                                 {"scale", 1e9}})
                               .sprites.at(0);
  CHECK(wild.id == 0);
  CHECK(wild.x == rules::kScreenMax);
  CHECK(wild.y == 0);
  CHECK(wild.vx == -rules::kSpeedMax);
  CHECK(wild.animation == Mode::kIdle);
  CHECK(wild.scale == rules::kScaleMax);
  for (const int missing : {1, 2, -1}) {
    CAPTURE(missing);
    // A negative index counts as the first.
    CHECK(with({{"id", 7}, {"file", missing}}).sprites.size() == (missing < 0 ? 1 : 0));
  }
  CHECK(!StageIn(
      {{"width", 0}, {"height", 1080}, {"files", Json::array()}, {"sprites", Json::array()}}));
  CHECK(!StageIn({{"width", 10}, {"height", 10}, {"files", 1}, {"sprites", Json::array()}}));
  CHECK(!StageIn({{"width", 10}, {"height", 10}, {"files", Json::array()}}));
  CHECK(!StageIn("stage"));
  CHECK(StageIn(
      {{"width", 1}, {"height", 65'535}, {"files", Json::array()}, {"sprites", Json::array()}}));
}

TEST_CASE("stages › in events have at most 32 sprites, and each number once") {
  for (const size_t count : {kStageSpritesMax - 1, kStageSpritesMax, kStageSpritesMax + 1}) {
    Json sprites = Json::array();
    for (size_t i = 0; i < count; i++) {
      sprites.push_back({{"id", i}, {"x", 1}, {"y", 1}});
    }
    const auto stage =
        StageIn({{"width", 9}, {"height", 9}, {"files", {HashOf("ab")}}, {"sprites", sprites}});
    REQUIRE(stage);
    CHECK(stage->sprites.size() == std::min(count, kStageSpritesMax));
  }
  const Json twice = {{{"id", 1}, {"x", 1}, {"y", 1}}, {{"id", 1}, {"x", 2}, {"y", 1}}};
  const auto stage =
      StageIn({{"width", 9}, {"height", 9}, {"files", {HashOf("ab")}}, {"sprites", twice}});
  REQUIRE(stage);
  REQUIRE(stage->sprites.size() == 1);
  CHECK(stage->sprites[0].x == 1);
}

TEST_CASE("edges › have the names of the protocol") {
  CHECK(EdgeNamed("top") == Edge::kTop);
  CHECK(!EdgeNamed("up"));
  CHECK(!EdgeNamed(1));
  CHECK(EdgesNamed({"right", "left", "right", 4}) == std::vector{Edge::kLeft, Edge::kRight});
  CHECK(EdgesNamed(Json::array()) == std::vector<Edge>{});
  CHECK(!EdgesNamed("left"));
  CHECK(std::string(NameOf(Edge::kBottom)) == "bottom");
}

}  // namespace
}  // namespace sprites
