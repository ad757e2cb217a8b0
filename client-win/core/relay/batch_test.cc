#include "core/relay/batch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "core/relay/seat.h"
#include "core/text/json.h"
#include "test/core/test_relay.h"
#include "wire/rules.h"

namespace sprites {
namespace {

Json SpriteEvent(uint64_t seq) {
  return {{"type", "sprite"},
          {"seq", seq},
          {"from", {{"desktop", "9-3e"}, {"name", "Bob"}}},
          {"edge", "left"},
          {"at", 0.25},
          {"vx", 900},
          {"vy", -50},
          {"sprite",
           {{"file", kFile},
            {"name", "Blob"},
            {"animation", "fall"},
            {"facing", "left"},
            {"scale", 2}}}};
}

std::string BatchOf(const Json& events) {
  return WriteJson({{"cursor", "6a1f03c2-81"}, {"events", events}});
}

TEST_CASE("batch › reads the protocol's own example") {
  const auto batch = ReadBatch(BatchOf(Json::array({SpriteEvent(81)})));
  REQUIRE(batch);
  CHECK(batch->cursor == "6a1f03c2-81");
  REQUIRE(batch->arrivals.size() == 1);
  const Arrival& arrival = batch->arrivals[0];
  CHECK(arrival.seq == 81);
  CHECK(arrival.from.DisplayName() == "Bob");
  CHECK(arrival.entrance.edge == Edge::kLeft);
  CHECK(arrival.entrance.at == 0.25);
  CHECK(arrival.entrance.vx == 900);
  CHECK(arrival.facing == Facing::kLeft);
  CHECK(arrival.scale == 2);
}

TEST_CASE("batch › has up to 333 events, and is rejected with more") {
  for (const size_t count :
       {size_t{0}, size_t{63}, rules::kAnswerEventsMax, rules::kAnswerEventsMax + 1}) {
    Json events = Json::array();
    for (size_t i = 0; i < count; i++) {
      events.push_back(SpriteEvent(i + 1));
    }
    const auto batch = ReadBatch(BatchOf(events));
    CHECK(batch.has_value() == (count <= rules::kAnswerEventsMax));
    CHECK((!batch || batch->arrivals.size() == count));
  }
}

TEST_CASE("batch › a number of an event: one less than the limit, the limit, above it") {
  constexpr uint64_t kNumberMax = (1ull << 53) - 1;
  for (const uint64_t seq : {kNumberMax - 1, kNumberMax, kNumberMax + 1, UINT64_MAX}) {
    Json event = SpriteEvent(1);
    event["seq"] = seq;
    const auto batch = ReadBatch(BatchOf(Json::array({event})));
    CHECK(batch->arrivals.at(0).seq == std::min(seq, kNumberMax));
  }
}

TEST_CASE("batch › reads removed pictures and announcements, and leaves out unusable ones") {
  const std::string file(64, 'a');
  const auto batch = ReadBatch(BatchOf({{{"type", "removed"}, {"file", file}},
                                        {{"type", "removed"}, {"file", "../../x"}},
                                        {{"type", "removed"}},
                                        {{"type", "announcement"}, {"text", "Good\nnight"}},
                                        {{"type", "announcement"}, {"text", 7}}}));
  CHECK(batch->events == 5);
  CHECK(batch->removed == std::vector<std::string>{file});
  REQUIRE(batch->announcements.size() == 1);
  CHECK(batch->announcements[0].find('\n') == std::string::npos);
}

TEST_CASE(
    "batch › bytes of an announcement: one less than the limit, the limit; a longer one is left "
    "out") {
  for (const size_t size :
       {kAnnouncementBytesMax - 1, kAnnouncementBytesMax, kAnnouncementBytesMax + 1}) {
    const auto batch =
        ReadBatch(BatchOf({{{"type", "announcement"}, {"text", std::string(size, 'a')}}}));
    CHECK(batch->announcements.size() == (size <= kAnnouncementBytesMax ? 1 : 0));
  }
}

TEST_CASE("batch › is rejected when it is too long, too deep, not JSON, or has no cursor") {
  const std::string usual = BatchOf(Json::array());
  CHECK(ReadBatch(usual + std::string(kResponseBytesMax - usual.size(), ' ')));
  CHECK(!ReadBatch(usual + std::string(kResponseBytesMax - usual.size() + 1, ' ')));
  CHECK(!ReadBatch(std::string(100'000, '[')));
  CHECK(!ReadBatch("{"));
  CHECK(!ReadBatch("[]"));
  CHECK(!ReadBatch(R"({"events":[]})"));
  CHECK(!ReadBatch(R"({"cursor":7,"events":[]})"));
  CHECK(!ReadBatch(R"({"cursor":"a b","events":[]})"));
  CHECK(!ReadBatch(R"({"cursor":"a\r\nX: y","events":[]})"));
  CHECK(!ReadBatch(R"({"cursor":"a"})"));
  CHECK(!ReadBatch(
      WriteJson({{"cursor", std::string(kIdBytesMax + 1, 'a')}, {"events", Json::array()}})));
}

TEST_CASE("batch › leaves out unknown and unusable events, and keeps the rest") {
  Json no_file = SpriteEvent(2);
  no_file["sprite"]["file"] = "../../etc/passwd";
  Json no_edge = SpriteEvent(3);
  no_edge["edge"] = "up";
  Json no_seq = SpriteEvent(4);
  no_seq.erase("seq");
  const auto batch = ReadBatch(BatchOf({nullptr,
                                        7,
                                        "x",
                                        Json::array(),
                                        {{"type", "party"}},
                                        no_file,
                                        no_edge,
                                        no_seq,
                                        SpriteEvent(5)}));
  REQUIRE(batch);
  CHECK(batch->events == 9);
  REQUIRE(batch->arrivals.size() == 1);
  CHECK(batch->arrivals[0].seq == 5);
}

TEST_CASE("batch › has stages and watchers, which are only about this moment") {
  const Json bob = {{"desktop", "9-3e"}, {"name", "Bob"}};
  const Json stage = {{"type", "stage"},  {"edge", "left"},
                      {"ageMs", 12},      {"from", bob},
                      {"width", 1920},    {"height", 1080},
                      {"files", {kFile}}, {"sprites", {{{"id", 7}, {"x", 1890}, {"y", 1040}}}}};
  Json end = {{"type", "stage"}, {"edge", "top"}, {"files", Json::array()}};
  Json no_edge = stage;
  no_edge["edge"] = "up";
  Json no_size = stage;
  no_size.erase("width");
  Json old = stage;
  old["ageMs"] = 1e9;
  const auto batch = ReadBatch(BatchOf({stage,
                                        end,
                                        no_edge,
                                        no_size,
                                        old,
                                        {{"type", "watched"}, {"edges", {"top", "left"}}},
                                        {{"type", "watched"}, {"edges", "left"}},
                                        SpriteEvent(5)}));
  REQUIRE(batch);
  CHECK(batch->events == 8);
  CHECK(batch->momentary == 7);
  REQUIRE(batch->stages.size() == 3);
  CHECK(batch->stages[0].edge == Edge::kLeft);
  CHECK(batch->stages[0].age_ms == 12);
  CHECK(batch->stages[0].from->DisplayName() == "Bob");
  CHECK(batch->stages[0].stage.sprites.size() == 1);
  CHECK(!batch->stages[1].from);
  CHECK(batch->stages[2].age_ms == kStageAgeMsMax);
  CHECK(batch->watched == std::vector{Edge::kLeft, Edge::kTop});
}

TEST_CASE("batch › clamps numbers and cleans names") {
  Json wild = SpriteEvent(1);
  wild["at"] = 7;
  wild["vx"] = 1e308;
  wild["vy"] = "fast";
  wild["from"] = 5;
  wild["sprite"]["scale"] = -3;
  wild["sprite"]["name"] = "a\u202eb\n";
  const auto batch = ReadBatch(BatchOf(Json::array({wild})));
  REQUIRE(batch->arrivals.size() == 1);
  const Arrival& arrival = batch->arrivals[0];
  CHECK(arrival.entrance.at == 1);
  CHECK(arrival.entrance.vx == rules::kSpeedMax);
  CHECK(arrival.entrance.vy == 0);
  CHECK(arrival.scale == rules::kScaleMin);
  CHECK(arrival.name == "ab");
  CHECK(arrival.from.desktop.empty());
}

TEST_CASE("batch › reads neighbours and byes") {
  const Json bob = {{"desktop", "9-3e"}, {"name", "Bob"}};
  const Json all = {
      {"type", "neighbours"}, {"left", bob}, {"right", bob}, {"top", bob}, {"bottom", bob}};
  const auto batch = ReadBatch(BatchOf({all, {{"type", "bye"}, {"retryAfterMs", 1e12}}}));
  REQUIRE(batch->neighbours);
  CHECK((*batch->neighbours)[static_cast<size_t>(Edge::kTop)].name == "Bob");
  CHECK(batch->bye_ms == kByeMsMax);
}

TEST_CASE("batch › a neighbour that is left out or can't be used is not known yet") {
  const Json bob = {{"desktop", "9-3e"}, {"name", "Bob"}};
  const Json some = {{"left", bob}, {"right", {{"desktop", "9 3e"}, {"name", "Bob"}}}, {"top", 7}};
  const Neighbours expected{Neighbour{"9-3e", "Bob"}};
  Json event = some;
  event["type"] = "neighbours";
  CHECK(ReadBatch(BatchOf(Json::array({event})))->neighbours == expected);
  CHECK(ReadNeighbours(WriteJson({{"neighbours", some}})) == expected);
  CHECK(ReadNeighbours(R"({"neighbours":{}})") == Neighbours{});
  for (const char* none : {"{}", R"({"neighbours":null})", R"({"neighbours":[]})", "<html>"}) {
    CHECK(!ReadNeighbours(none));
  }
}

TEST_CASE("batch › reads what is said, and leaves out what nobody said") {
  const Json ann = {{"desktop", "1a2b-3f"}, {"name", "Ann"}};
  const auto batch = ReadBatch(BatchOf(
      {{{"type", "saying"}, {"from", ann}, {"text", "Whose cat is that?"}, {"edge", "left"}},
       {{"type", "saying"}, {"from", ann}, {"text", "Good\n\u202enight"}, {"edge", "inside"}},
       {{"type", "saying"}, {"from", {{"name", "Ann"}}}, {"text", "x"}},
       {{"type", "saying"}, {"from", ann}, {"text", " \n"}},
       {{"type", "saying"}, {"from", ann}, {"text", 7}},
       {{"type", "saying"}, {"from", ann}, {"text", std::string(kSayingBytesMax, 'x')}},
       {{"type", "saying"}, {"from", ann}, {"text", std::string(kSayingBytesMax + 1, 'x')}},
       {{"type", "missed"}, {"sayings", 3}},
       {{"type", "missed"}, {"sayings", -4}},
       {{"type", "missed"}, {"sayings", "many"}}}));
  REQUIRE(batch);
  REQUIRE(batch->sayings.size() == 3);
  CHECK(batch->sayings[0].from.DisplayName() == "Ann");
  CHECK(batch->sayings[0].text == "Whose cat is that?");
  CHECK(batch->sayings[0].edge == Edge::kLeft);
  CHECK(batch->sayings[1].text == "Goodnight");
  CHECK(!batch->sayings[1].edge);
  CHECK(batch->sayings[2].text.size() == kSayingBytesMax);
  CHECK(batch->missed == 3);
}

TEST_CASE("problem › has a code even when a proxy responds") {
  CHECK(ReadProblem({1, 503, R"({"code":"mailbox-full","title":"Full."})"}).code == "mailbox-full");
  CHECK(ReadProblem({1, 502, "<html>"}).code == "http-502");
  CHECK(ReadProblem({1, 0}).title == "The relay could not be reached.");
  CHECK(ReadProblem({1, 410, R"({"code":"cursor-lost","cursor":"a b"})"}).cursor.empty());
}

}  // namespace
}  // namespace sprites
