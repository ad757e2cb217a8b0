#include "core/relay/crossing.h"

#include <doctest/doctest.h>

#include "core/relay/poller.h"
#include "core/text/json.h"

namespace sprites {
namespace {

const std::string kFile(64, 'a');

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
  return Written({{"cursor", "6a1f03c2-81"}, {"events", events}});
}

Departure Leaver(Edge edge = Edge::kRight) {
  Departure departure;
  departure.sprite.file = kFile;
  departure.sprite.name = "Blob";
  departure.edge = edge;
  departure.at = 0.25;
  departure.vx = 900;
  departure.vy = -50;
  return departure;
}

Seat SomeSeat() {
  Seat seat;
  seat.desktop = "1-1";
  seat.token = "1-1.00";
  seat.cursor = "6a1f03c2-0";
  seat.events = "http://relay.example:8081/v1/desktops/1-1/events";
  seat.crossings = "http://relay.example:8080/v1/desktops/1-1/crossings";
  return seat;
}

const Random kHalf = [] { return 0.5; };

TEST_CASE("batch › reads the protocol's own example") {
  const auto batch = ReadBatch(BatchOf(Json::array({SpriteEvent(81)})));
  REQUIRE(batch);
  CHECK(batch->cursor == "6a1f03c2-81");
  REQUIRE(batch->arrivals.size() == 1);
  const Arrival& arrival = batch->arrivals[0];
  CHECK(arrival.seq == 81);
  CHECK(arrival.from.Called() == "Bob");
  CHECK(arrival.entrance.edge == Edge::kLeft);
  CHECK(arrival.entrance.at == 0.25);
  CHECK(arrival.entrance.vx == 900);
  CHECK(arrival.facing == Facing::kLeft);
  CHECK(arrival.scale == 2);
}

TEST_CASE("batch › has up to 64 events, and is none with more") {
  for (const size_t count : {size_t{0}, size_t{63}, kEventsPerAnswerMax, kEventsPerAnswerMax + 1}) {
    Json events = Json::array();
    for (size_t i = 0; i < count; i++) {
      events.push_back(SpriteEvent(i + 1));
    }
    const auto batch = ReadBatch(BatchOf(events));
    CHECK(batch.has_value() == (count <= kEventsPerAnswerMax));
    CHECK((!batch || batch->arrivals.size() == count));
  }
}

TEST_CASE("batch › is none when it is too long, too deep, no JSON, or has no cursor") {
  const std::string usual = BatchOf(Json::array());
  CHECK(ReadBatch(usual + std::string(kAnswerBytesMax - usual.size(), ' ')));
  CHECK(!ReadBatch(usual + std::string(kAnswerBytesMax - usual.size() + 1, ' ')));
  CHECK(!ReadBatch(std::string(100'000, '[')));
  CHECK(!ReadBatch("{"));
  CHECK(!ReadBatch("[]"));
  CHECK(!ReadBatch(R"({"events":[]})"));
  CHECK(!ReadBatch(R"({"cursor":7,"events":[]})"));
  CHECK(!ReadBatch(R"({"cursor":"a b","events":[]})"));
  CHECK(!ReadBatch(R"({"cursor":"a\r\nX: y","events":[]})"));
  CHECK(!ReadBatch(R"({"cursor":"a"})"));
  CHECK(!ReadBatch(
      Written({{"cursor", std::string(kIdBytesMax + 1, 'a')}, {"events", Json::array()}})));
}

TEST_CASE("batch › leaves out what it does not know or can't use, and keeps the rest") {
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

TEST_CASE("batch › brings numbers into their ranges and names into shape") {
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
  CHECK(arrival.entrance.vx == kRelaySpeedMax);
  CHECK(arrival.entrance.vy == 0);
  CHECK(arrival.scale == kSpriteScaleMin);
  CHECK(arrival.name == "ab");
  CHECK(arrival.from.desktop.empty());
}

TEST_CASE("batch › knows neighbours and byes") {
  const Json bob = {{"desktop", "9-3e"}, {"name", "Bob"}};
  const Json all = {
      {"type", "neighbours"}, {"left", bob}, {"right", bob}, {"top", bob}, {"bottom", bob}};
  const auto batch = ReadBatch(BatchOf({all, {{"type", "bye"}, {"retryAfterMs", 1e12}}}));
  REQUIRE(batch->neighbours);
  CHECK((*batch->neighbours)[static_cast<size_t>(Edge::kTop)].name == "Bob");
  CHECK(batch->bye_ms == kByeMsMax);
  Json three = all;
  three.erase("top");
  CHECK(!ReadBatch(BatchOf(Json::array({three})))->neighbours);
}

TEST_CASE("problem › has a code also where a proxy answers") {
  CHECK(ReadProblem({1, 503, R"({"code":"mailbox-full","title":"Full."})"}).code == "mailbox-full");
  CHECK(ReadProblem({1, 502, "<html>"}).code == "http-502");
  CHECK(ReadProblem({1, 0}).title == "The relay could not be reached.");
  CHECK(ReadProblem({1, 410, R"({"code":"cursor-lost","cursor":"a b"})"}).cursor.empty());
}

TEST_CASE("crossing › says what the protocol wants, in 1024 bytes at the very most") {
  const Json body = Json::parse(CrossingJson(17, Leaver()));
  CHECK(body ==
        Json::parse(
            R"({"crossing":17,"edge":"right","at":0.25,"vx":900,"vy":-50,"sprite":{"file":")" +
            kFile + R"(","name":"Blob","animation":"fall","facing":"right","scale":1}})"));
  Departure longest = Leaver(Edge::kBottom);
  longest.at = 1.0 / 3;
  longest.vx = longest.vy = -1e9;
  longest.sprite.name = std::string(500, '"');
  longest.sprite.scale = 1.0 / 3;
  const std::string text = CrossingJson((1ull << 53) - 1, longest);
  CHECK(text.size() <= kCrossingBytesMax);
  CHECK(Json::parse(text)["vx"] == -20'000);
}

TEST_CASE("departures › are with us until the relay has decided") {
  Departures departures;
  RequestId next = 1;
  departures.Depart(Leaver(), false);
  departures.Depart(Leaver(), false);
  auto requests = departures.Due(SomeSeat(), 0, &next);
  REQUIRE(requests.size() == 2);
  CHECK(Json::parse(requests[1].body)["crossing"] == 2);
  CHECK(departures.Due(SomeSeat(), 0, &next).empty());

  const auto accepted = departures.Take(
      {requests[1].id, 202, R"({"to":{"desktop":"1a2c-3f","name":"Carol"}})"}, 0, kHalf);
  REQUIRE(accepted);
  CHECK(accepted->accepted);
  CHECK(accepted->to->name == "Carol");
  const auto refused = departures.Take(
      {requests[0].id, 503, R"({"code":"mailbox-full","title":"Full."})"}, 0, kHalf);
  REQUIRE(refused);
  CHECK(!refused->accepted);
  CHECK(refused->problem.code == "mailbox-full");
  CHECK(departures.leaving().empty());
  CHECK(!departures.Take({requests[0].id, 202}, 0, kHalf));
}

TEST_CASE("departures › ask again under the same number when nobody decided") {
  const std::string ended = R"({"code":"desktop-ended"})";
  const std::string unknown = R"({"code":"unknown-desktop"})";
  const std::string internal = R"({"code":"internal"})";
  for (const Answer& none :
       {Answer{0, 0}, Answer{0, 502, "<html>"}, Answer{0, 500, internal}, Answer{0, 410, ended},
        Answer{0, 401, unknown}, Answer{0, 200, "<html>Please log in</html>"}, Answer{0, 202, ""},
        Answer{0, 202, "{}"}, Answer{0, 204}}) {
    Departures departures;
    RequestId next = 1;
    departures.Depart(Leaver(), false);
    Answer answer = none;
    answer.id = departures.Due(SomeSeat(), 0, &next)[0].id;
    CAPTURE(answer.status);
    CHECK(!departures.Take(answer, 1000, kHalf));
    CHECK(departures.Due(SomeSeat(), 1000, &next).empty());
    CHECK(departures.NextDueMs() == 1300);
    const auto again = departures.Due(SomeSeat(), 1300, &next);
    REQUIRE(again.size() == 1);
    CHECK(Json::parse(again[0].body)["crossing"] == 1);
    CHECK(!departures.Take(answer, 1400, kHalf));  // the first one's, late
    CHECK(departures.Take({again[0].id, 202, R"({"to":null})"}, 1400, kHalf)->accepted);
  }
}

TEST_CASE("departures › are never further ahead than the relay looks back") {
  Departures departures;
  RequestId next = 1;
  for (int i = 0; i < 40; i++) {
    departures.Depart(Leaver(), false);
  }
  const auto requests = departures.Due(SomeSeat(), 0, &next);
  CHECK(requests.size() == kCrossingsAhead);
  departures.Take({requests[1].id, 202, R"({"to":null})"}, 0, kHalf);
  CHECK(departures.Due(SomeSeat(), 0, &next).empty());
  departures.Take({requests[0].id, 202, R"({"to":null})"}, 0, kHalf);
  CHECK(departures.Due(SomeSeat(), 0, &next).size() == 2);
}

TEST_CASE("departures › are sent anew over another seat, under their numbers") {
  Departures departures;
  RequestId next = 1;
  Leaving kept;
  kept.number = 7;
  kept.departure = Leaver();
  departures.Resume(kept);
  departures.Depart(Leaver(), false);
  CHECK(departures.leaving()[1].number == 8);
  const auto before = departures.Due(SomeSeat(), 0, &next);
  departures.AskAgain();
  const auto after = departures.Due(SomeSeat(), 0, &next);
  REQUIRE(after.size() == 2);
  CHECK(after[0].id != before[0].id);
  CHECK(after[0].body == before[0].body);
}

}  // namespace
}  // namespace sprites
