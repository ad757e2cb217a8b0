#include "core/relay/departures.h"

#include <doctest/doctest.h>

#include "core/text/json.h"

namespace sprites {
namespace {

const std::string kFile(64, 'a');

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

TEST_CASE("departures › are pending until the relay has decided") {
  Departures departures;
  RequestId next = 1;
  RequestBudget budget;
  departures.Add(Leaver(), false);
  departures.Add(Leaver(), false);
  auto requests = departures.DueRequests(SomeSeat(), 0, &budget, &next);
  REQUIRE(requests.size() == 2);
  CHECK(Json::parse(requests[1].body)["crossing"] == 2);
  CHECK(departures.DueRequests(SomeSeat(), 0, &budget, &next).empty());

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

TEST_CASE("departures › are sent again under the same number when the relay has not decided") {
  const std::string ended = R"({"code":"desktop-ended"})";
  const std::string unknown = R"({"code":"unknown-desktop"})";
  const std::string internal = R"({"code":"internal"})";
  for (const Response& none :
       {Response{0, 0}, Response{0, 502, "<html>"}, Response{0, 500, internal},
        Response{0, 410, ended}, Response{0, 401, unknown},
        Response{0, 200, "<html>Please log in</html>"}, Response{0, 202, ""},
        Response{0, 202, "{}"}, Response{0, 204}}) {
    Departures departures;
    RequestId next = 1;
    RequestBudget budget;
    departures.Add(Leaver(), false);
    Response response = none;
    response.id = departures.DueRequests(SomeSeat(), 0, &budget, &next)[0].id;
    CAPTURE(response.status);
    CHECK(!departures.HandleResponse(response, 1000, kHalf));
    CHECK(departures.DueRequests(SomeSeat(), 1000, &budget, &next).empty());
    CHECK(departures.NextDueMs() == 1300);
    const auto again = departures.DueRequests(SomeSeat(), 1300, &budget, &next);
    REQUIRE(again.size() == 1);
    CHECK(Json::parse(again[0].body)["crossing"] == 1);
    CHECK(
        !departures.HandleResponse(response, 1400, kHalf));  // a late response to the first request
    CHECK(departures.HandleResponse({again[0].id, 202, R"({"to":null})"}, 1400, kHalf)->accepted);
  }
}

TEST_CASE("departures › are never sent further ahead than the relay looks back") {
  Departures departures;
  RequestId next = 1;
  RequestBudget budget;
  for (int i = 0; i < 40; i++) {
    departures.Add(Leaver(), false);
  }
  const auto requests = departures.DueRequests(SomeSeat(), 0, &budget, &next);
  CHECK(requests.size() == kCrossingsAhead);
  departures.HandleResponse({requests[1].id, 202, R"({"to":null})"}, 0, kHalf);
  CHECK(departures.DueRequests(SomeSeat(), 0, &budget, &next).empty());
  departures.HandleResponse({requests[0].id, 202, R"({"to":null})"}, 0, kHalf);
  CHECK(departures.DueRequests(SomeSeat(), 0, &budget, &next).size() == 2);
}

TEST_CASE("departures › are sent again for another seat, under their numbers") {
  Departures departures;
  RequestId next = 1;
  RequestBudget budget;
  PendingDeparture kept;
  kept.number = 7;
  kept.departure = Leaver();
  departures.Restore(kept);
  departures.Add(Leaver(), false);
  CHECK(departures.pending()[1].number == 8);
  const auto before = departures.DueRequests(SomeSeat(), 0, &budget, &next);
  departures.ResendAll();
  const auto after = departures.DueRequests(SomeSeat(), 0, &budget, &next);
  REQUIRE(after.size() == 2);
  CHECK(after[0].id != before[0].id);
  CHECK(after[0].body == before[0].body);
}

}  // namespace
}  // namespace sprites
