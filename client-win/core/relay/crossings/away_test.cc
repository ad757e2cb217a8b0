// The sprites that are away in relay.vectors.json in this client; test/relay.test.ts plays them in
// the page's.
#include "core/relay/crossings/away.h"

#include <doctest/doctest.h>

#include "core/relay/crossings/journey.h"
#include "test/core/vectors.h"

namespace sprites {
namespace {

Departure Leaving(const std::string& file, const Json& journey) {
  Departure departure;
  departure.sprite.file = file;
  departure.sprite.name = "Miso";
  departure.journey = JourneyIn(journey);
  return departure;
}

void Play(const Json& step, Away* away) {
  const Departure departure = Leaving(step["file"], step["journey"]);
  if (step["does"] == "leave") {
    away->Leave(departure, step["nowS"]);
  } else if (step["does"] == "accept") {
    away->Accept(departure, step["to"], step["nowS"]);
  } else if (step["does"] == "refuse") {
    away->Refuse(departure);
  } else {
    const bool has = away->Has(step["file"], departure.journey);
    const auto home = away->ComeHome(step["file"], departure.journey, step.value("isOwn", false));
    CHECK((home ? JourneyToJson(*home) : Json()) == step["home"]);
    CHECK(has == home.has_value());
  }
}

TEST_CASE("sprites that are away › are known as the vectors say") {
  const Json vectors = ReadVectors(RELAY_VECTORS);
  REQUIRE(vectors["away"].size() > 10);
  for (const Json& one : vectors["away"]) {
    CAPTURE(one["name"]);
    Away away;
    for (const Json& step : one["steps"]) {
      Play(step, &away);
    }
    Json left = Json::array();
    for (const AwaySprite& sprite : away.all()) {
      left.push_back({{"file", sprite.file},
                      {"name", sprite.name},
                      {"since", sprite.since_s},
                      {"seen", sprite.seen_s},
                      {"hops", sprite.hops},
                      {"with", sprite.with}});
    }
    CHECK(left == one["away"]);
  }
}

TEST_CASE("sprites that are away › are kAwayMax at most; the one thrown longest ago is forgotten") {
  Away away;
  const auto throw_at = [&away](int64_t since_s) {
    away.Leave(Leaving("f", {{"hops", 1}, {"since", since_s}}), since_s);
  };
  for (size_t i = 1; i < kAwayMax; i++) {
    throw_at(static_cast<int64_t>(i));
  }
  CHECK(away.all().size() == kAwayMax - 1);
  throw_at(kAwayMax);
  CHECK(away.all().size() == kAwayMax);
  CHECK(away.all().front().since_s == 1);
  throw_at(kAwayMax + 1);
  CHECK(away.all().size() == kAwayMax);
  CHECK(away.all().front().since_s == 2);
}

}  // namespace
}  // namespace sprites
