#include "core/desktop/journey_words.h"

#include <doctest/doctest.h>

#include "core/relay/crossings/journey.h"
#include "test/core/vectors.h"

namespace sprites {
namespace {

// A Wednesday, 12:00 in Berlin.
constexpr int64_t kNow = 1'795'604'400;
constexpr WallClock kBerlin{kNow, kNow + 3'600};
constexpr int64_t kDay = 86'400;

std::string Words(int64_t hops, int64_t since_s, const std::vector<std::string>& from,
                  Language language = Language::kEnglish) {
  return JourneyWords(language, {hops, since_s, "", from}, kBerlin);
}

TEST_CASE("journey words › say since when: today, a day of the last six, or a date") {
  CHECK(Words(1, kNow, {}) == "1 desktop since today");
  CHECK(Words(2, kNow + 9 * kDay, {}) == "2 desktops since today");  // another clock
  CHECK(Words(2, kNow - kDay, {}) == "2 desktops since Tuesday");
  CHECK(Words(2, kNow - kDay, {}, Language::kGerman) == "2 Desktops seit Dienstag");
  CHECK(Words(2, kNow - 6 * kDay, {}) == "2 desktops since Thursday");
  CHECK(Words(2, kNow - 7 * kDay, {}) == "2 desktops since 2026-11-18");
  CHECK(Words(2, 0, {}) == "2 desktops since 1970-01-01");
  // Midnight is that of the wall: 23:30 in Greenwich is today in Berlin.
  CHECK(Words(2, kNow - 11 * 3'600 - 1'800, {}) == "2 desktops since today");
}

TEST_CASE("journey words › say from whom, and by way of whom, as far as nobody is left out") {
  CHECK(Words(1, kNow, {"Ada"}) == "1 desktop since today; from Ada");
  CHECK(Words(3, kNow, {"Ada", "Bob", "Bob"}) == "3 desktops since today; from Ada by way of Bob");
  CHECK(Words(17, kNow, {"Ada", "Bob", "Ada"}) == "17 desktops since today; by way of Ada, Bob");
  CHECK(Words(2, kNow, {"A\nd\u202ea", "{0}"}) == "2 desktops since today; from Ada by way of {0}");
}

TEST_CASE("journey words › are those of the vectors, as on a page") {
  const Json vectors = ReadVectors(RELAY_VECTORS);
  REQUIRE(vectors["told"].size() > 2);
  for (const auto& [tag, language] :
       {std::pair("en", Language::kEnglish), std::pair("de", Language::kGerman)}) {
    for (const Json& one : vectors["told"]) {
      const WallClock clock{one["nowS"], one["nowS"]};
      const Journey journey = JourneyIn(one["journey"]);
      CHECK(TellJourney(language, "Miso", journey, clock) == one["tells"][tag]);
      CHECK(HomeWords(language, "Miso", journey, clock) == one["home"][tag]);
    }
    for (const Json& one : vectors["seen"]) {
      const AwaySprite sprite{"", "Miso", 0, one["seen"], 1, one["with"]};
      CHECK(SeenWords(language, sprite, {one["nowS"], one["nowS"]}) == one["says"][tag]);
    }
  }
}

TEST_CASE("journey words › say at what time a sprite was seen today") {
  const auto seen = [](int64_t at_s) {
    return SeenWords(Language::kEnglish, {"", "Miso", 0, at_s, 1, "Ada"}, kBerlin);
  };
  CHECK(seen(kNow) == "Miso: last seen with Ada, 12:00");
  CHECK(seen(kNow - 12 * 3'600) == "Miso: last seen with Ada, 0:00");
  CHECK(seen(kNow - 12 * 3'600 - 1) == "Miso: last seen with Ada, Tuesday");
}

}  // namespace
}  // namespace sprites
