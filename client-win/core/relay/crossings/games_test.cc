// The games of relay.vectors.json in this client; test/relay.test.ts plays them in the page's.
#include "core/relay/crossings/games.h"

#include <doctest/doctest.h>

#include "core/motion/behaviour.h"
#include "test/core/vectors.h"

namespace sprites {
namespace {

struct Table {
  Games games;
  std::map<SpriteId, Sprite> all;
  std::vector<SpriteId> here;

  void Add(SpriteId id, bool in_the_air) {
    Sprite sprite;
    sprite.file = "f";
    sprite.name = "Miso";
    sprite.id = id;
    sprite.mode = in_the_air ? Mode::kFall : Mode::kIdle;
    all[id] = sprite;
    here.push_back(id);
  }

  void Play(const Json& step, SpriteId id, int64_t now_ms) {
    const std::string does = step["does"];
    if (does == "stand") {
      Add(id, false);
    } else if (does == "arrive") {
      Add(id, true);
      games.Arrive(all[id], step["animation"].get<std::string>(), now_ms);
    } else if (does == "light") {
      games.Light(all[id], now_ms, step["luck"]);
    } else if (does == "mode") {
      all[id].mode = ModeNamed(step["mode"].get<std::string>()).value();
    } else if (does == "leave") {
      const std::string animation = games.AnimationOf(id, now_ms);
      CHECK((animation.empty() ? "fall" : animation) == step["animation"]);
      std::erase(here, id);
    } else if (does == "accept") {
      games.Give({{}, all[id]});
    } else if (does == "refuse") {
      here.push_back(id);
    }
  }

  Json Said(int64_t now_ms) {
    constexpr const char* kWords[] = {"kept-up", "dropped", "hot", "burnt", "burnt-there"};
    std::vector<Sprite> sprites;
    for (const SpriteId id : here) {
      sprites.push_back(all[id]);
    }
    Json said = Json::array();
    for (const GameNews& news : games.Step(sprites, now_ms)) {
      CHECK(news.name == "Miso");
      said.push_back(kWords[static_cast<size_t>(news.what)]);
    }
    return said;
  }
};

TEST_CASE("games › are played as the vectors say") {
  const Json vectors = ReadVectors(RELAY_VECTORS);
  REQUIRE(vectors["games"].size() > 20);
  for (const Json& one : vectors["games"]) {
    CAPTURE(one["name"]);
    Table table;
    for (const Json& step : one["steps"]) {
      const int64_t now_ms = step["atMs"];
      CAPTURE(now_ms);
      table.Play(step, step.value("sprite", kNobody), now_ms);
      CHECK(table.Said(now_ms) == step.value("says", Json::array()));
    }
  }
}

}  // namespace
}  // namespace sprites
