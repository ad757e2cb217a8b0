// Also plays relay.vectors.json; test/relay.test.ts plays it in the browser's.
#include "core/relay/crossings/departures.h"

#include <doctest/doctest.h>

#include <string>

#include "test/core/test_relay.h"

namespace sprites {
namespace {

Seat SeatOf(const std::string& id, const std::string& relay = "http://relay.example:8080") {
  Seat seat;
  seat.desktop = id;
  seat.token = id + ".00";
  seat.cursor = "6a1f03c2-0";
  seat.events = relay + "/v1/desktops/" + id + "/events";
  seat.crossings = relay + "/v1/desktops/" + id + "/crossings";
  return seat;
}

const Seat kSeat = SeatOf("1-1");

TEST_CASE("departures › are pending until the relay has decided") {
  Departures departures;
  RequestId next = 1;
  RequestBudget budget;
  departures.Add(Leaver(), kSeat, false);
  departures.Add(Leaver(), kSeat, false);
  auto requests = departures.DueRequests(&kSeat, 0, &budget, &next);
  REQUIRE(requests.size() == 2);
  CHECK(Json::parse(requests[1].body)["crossing"] == 2);
  CHECK(departures.DueRequests(&kSeat, 0, &budget, &next).empty());

  const auto accepted = departures.HandleResponse(
      {requests[1].id, 202, R"({"to":{"desktop":"1a2c-3f","name":"Carol"}})"}, 0, kHalf);
  REQUIRE(accepted);
  CHECK(accepted->accepted);
  CHECK(accepted->to->name == "Carol");
  const auto refused = departures.HandleResponse(
      {requests[0].id, 503, R"({"code":"mailbox-full","title":"Full."})"}, 0, kHalf);
  REQUIRE(refused);
  CHECK(!refused->accepted);
  CHECK(refused->problem.code == "mailbox-full");
  CHECK(departures.pending().empty());
  CHECK(!departures.HandleResponse({requests[0].id, 202}, 0, kHalf));
}

PendingDeparture Kept(uint64_t number) {
  PendingDeparture kept;
  kept.number = number;
  kept.departure = Leaver();
  kept.thrown_from = KeyOf(kSeat);
  return kept;
}

TEST_CASE("departures › give the numbers that the vectors allow") {
  for (const Json& one : RelayVectors()["numbers"]) {
    CAPTURE(one["name"].get<std::string>());
    Departures departures;
    for (const Json& number : one["unanswered"]) {
      departures.Restore(Kept(number.get<uint64_t>()));
    }
    departures.set_next_number(one["number"].get<uint64_t>());
    CHECK(departures.HasRoom(kSeat) == one["isSent"].get<bool>());
  }
}

TEST_CASE(
    "departures › understand answers, to a first request and to a repeat, as in the vectors") {
  for (const Json& one : RelayVectors()["answers"]) {
    for (const bool is_repeat : {false, true}) {
      CAPTURE(one["name"].get<std::string>());
      CAPTURE(is_repeat);
      Departures departures;
      RequestId next = 1;
      RequestBudget budget;
      departures.Add(Leaver(), kSeat, false);
      auto request = departures.DueRequests(&kSeat, 0, &budget, &next).at(0);
      if (is_repeat) {
        CHECK(!departures.HandleResponse({request.id, 0}, 0, kHalf));
        request = departures.DueRequests(&kSeat, 15'000, &budget, &next).at(0);
      }
      const auto verdict =
          departures.HandleResponse(ResponseOf(one["answer"], request.id), 15'000, kHalf);
      const char* outcome = !verdict ? "again" : verdict->accepted ? "accepted" : "returned";
      CHECK(one[is_repeat ? "repeat" : "first"] == outcome);
    }
  }
}

TEST_CASE("departures › are sent again, under the same number, as in the vectors") {
  for (const Json& one : RelayVectors()["throws"]) {
    CAPTURE(one["name"].get<std::string>());
    Departures departures;
    RequestId next = 1;
    RequestBudget budget;
    int64_t now = 0;
    departures.Add(Leaver(), kSeat, false);
    const size_t last = one["answers"].size() - 1;
    for (size_t i = 0; i <= last; i++) {
      CAPTURE(i);
      CHECK(departures.DueRequests(&kSeat, now - 1, &budget, &next).empty());
      const auto requests = departures.DueRequests(&kSeat, now, &budget, &next);
      REQUIRE(requests.size() == 1);
      CHECK(Json::parse(requests[0].body)["crossing"] == 1);
      const Response response = ResponseOf(one["answers"][i], requests[0].id);
      const auto verdict = departures.HandleResponse(response, now, kHalf);
      REQUIRE(verdict.has_value() == (i == last));
      CHECK(!departures.HandleResponse(response, now, kHalf));  // it comes once more, too late
      if (verdict) {
        CHECK(one["outcome"] == (verdict->accepted ? "accepted" : verdict->problem.code));
        CHECK(one.value("to", Json()) == (verdict->to ? Json(verdict->to->name) : Json()));
      } else {
        now += one["waitsMs"][i].get<int64_t>();
        CHECK(departures.NextDueMs(&kSeat) == now);
      }
    }
  }
}

TEST_CASE("departures › a number is not given while it would be 32 above an unanswered one") {
  Departures departures;
  RequestId next = 1;
  RequestBudget budget;
  std::vector<Request> requests;
  for (uint64_t number = 1; number <= kCrossingsAhead; number++) {
    REQUIRE(departures.HasRoom(kSeat));
    departures.Add(Leaver(), kSeat, false);
    requests.push_back(departures.DueRequests(&kSeat, 0, &budget, &next).at(0));
  }
  CHECK(!departures.HasRoom(kSeat));
  CHECK(departures.HasRoom(SeatOf("2-2")));  // each seat has its own numbers
  departures.HandleResponse({requests[1].id, 202, R"({"to":null})"}, 0, kHalf);
  CHECK(!departures.HasRoom(kSeat));
  departures.HandleResponse({requests[0].id, 202, R"({"to":null})"}, 0, kHalf);
  CHECK(departures.HasRoom(kSeat));
}

TEST_CASE("departures › more than 32 of a saved state are not sent at once") {
  Departures departures;
  RequestId next = 1;
  RequestBudget budget;
  for (uint64_t number = 7; number < 47; number++) {
    departures.Restore(Kept(number));
  }
  const auto requests = departures.DueRequests(&kSeat, 0, &budget, &next);
  CHECK(requests.size() == kCrossingsAhead);
  departures.HandleResponse({requests[0].id, 202, R"({"to":null})"}, 0, kHalf);
  CHECK(departures.DueRequests(&kSeat, 0, &budget, &next).size() == 1);
}

TEST_CASE("departures › at most 64 are pending, of all seats") {
  Departures departures;
  size_t seats = 0;
  while (departures.HasRoom(SeatOf(std::to_string(seats)))) {
    departures.Add(Leaver(), SeatOf(std::to_string(seats)), false);
    seats++;
  }
  CHECK(seats == kDeparturesMax);
}

TEST_CASE("departures › those of a former seat are asked about there, one after the other") {
  Departures departures;
  RequestId next = 1;
  RequestBudget budget;
  const Seat now = SeatOf("2-2", "http://r2.example");
  for (const Seat* seat : {&kSeat, &kSeat, &now}) {
    departures.Add(Leaver(), *seat, false);
  }
  for (const Seat* connected : {&now, static_cast<const Seat*>(nullptr)}) {
    CHECK(departures.NextDueMs(connected) == 0);
  }
  const auto requests = departures.DueRequests(&now, 0, &budget, &next);
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].url == kSeat.crossings);
  CHECK(requests[0].token == kSeat.token);
  CHECK(Json::parse(requests[0].body)["crossing"] == 1);
  CHECK(requests[1].url == now.crossings);
  departures.HandleResponse({requests[0].id, 410, R"({"code":"desktop-ended"})"}, 0, kHalf);
  const auto second = departures.DueRequests(&now, 0, &budget, &next);
  REQUIRE(second.size() == 1);
  CHECK(second[0].token == kSeat.token);
  CHECK(Json::parse(second[0].body)["crossing"] == 2);
}

TEST_CASE("departures › a former seat is asked so often: once less, as often, and not once more") {
  Departures departures;
  RequestId next = 1;
  const Seat now = SeatOf("2-2", "http://r2.example");
  for (int i = 0; i < 2; i++) {
    departures.Add(Leaver(), kSeat, false);
  }
  int64_t ms = 0;
  const auto ask = [&](const Seat* connected) {
    RequestBudget budget;
    ms += 15'000;
    const auto requests = departures.DueRequests(connected, ms, &budget, &next);
    REQUIRE(requests.size() == 1);
    CHECK(departures.GiveUp().empty());
    CHECK(!departures.HandleResponse({requests[0].id, 0}, ms, kHalf));
  };
  for (int i = 0; i < 100; i++) {
    ask(nullptr);  // without any connection, the relay is not known to be gone
  }
  for (int i = 1; i < kFormerTriesMax; i++) {
    ask(&now);
    CHECK(departures.GiveUp().empty());
  }
  ask(&now);
  const auto verdicts = departures.GiveUp();
  REQUIRE(verdicts.size() == 2);
  CHECK(!verdicts[0].accepted);
  CHECK(verdicts[0].problem.code == "http-0");
  CHECK(departures.pending().empty());
}

TEST_CASE("departures › wait no longer when the connection may be back") {
  Departures departures;
  RequestId next = 1;
  RequestBudget budget;
  departures.Add(Leaver(), kSeat, false);
  const auto first = departures.DueRequests(&kSeat, 0, &budget, &next);
  departures.RetryNow();
  CHECK(departures.DueRequests(&kSeat, 0, &budget, &next).empty());  // it is under way
  departures.HandleResponse({first[0].id, 0}, 0, kHalf);
  CHECK(departures.DueRequests(&kSeat, 0, &budget, &next).empty());
  departures.RetryNow();
  CHECK(departures.DueRequests(&kSeat, 0, &budget, &next).size() == 1);
}

TEST_CASE("crossing › follows the protocol, in at most 1024 bytes") {
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

}  // namespace
}  // namespace sprites
