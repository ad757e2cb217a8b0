// Also plays relay.vectors.json; test/relay.test.ts plays it in the browser's.
#include "core/relay/poller.h"

#include <doctest/doctest.h>

#include <limits>

#include "core/relay/backoff.h"
#include "test/core/test_relay.h"

namespace sprites {
namespace {

constexpr int64_t kLostMs = rules::kLostLeases * 30'000;  // at the lease of SeatText
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

std::string NeighboursText() {
  const Json bob = {{"desktop", "9-3e"}, {"name", "Bob"}};
  return WriteJson(
      {{"neighbours", {{"left", bob}, {"right", bob}, {"top", bob}, {"bottom", bob}}}});
}

std::string BatchText(const std::string& cursor, const Json& events) {
  return WriteJson({{"cursor", cursor}, {"events", events}});
}

const Json kPing = {{{"type", "ping"}}};

// The number of the event after which sprites are lost with the seat; null when none is.
Json LostAfter(const News& news) {
  const auto none = std::numeric_limits<uint64_t>::max();
  if (news.acknowledged) {
    return *news.acknowledged == none ? Json() : Json(*news.acknowledged);
  }
  return news.batch_was_lost ? Json(0) : Json();
}

// A poller, its clock, and a relay played by the test.
struct Fixture {
  explicit Fixture(const std::string& relay = kRelay,
                   JoinOptions options = {"Ann", "", "", 800, 600}, double random = 0.5)
      : poller(relay, std::move(options), [random] { return random; }) {}

  // The request that is due now; the test fails when there is none.
  Request NextRequest() {
    const auto request = poller.DueRequest(now, &next_id);
    REQUIRE(request);
    return *request;
  }
  News Respond(const Request& request, int status, const std::string& body = "",
               int retry_after = 0) {
    const auto news = poller.HandleResponse({request.id, status, body, retry_after}, now);
    REQUIRE(news);
    return *news;
  }
  // Responds as a case of the vectors says.
  News Respond(const Request& request, const Json& answer) {
    const Response response = ResponseOf(answer, request.id);
    return Respond(request, response.status, response.body, response.retry_after_s);
  }
  // Waits until the next request is due, and returns how long that was.
  int64_t WaitUntilDue() {
    CHECK(!poller.DueRequest(poller.NextDueMs() - 1, &next_id));
    const int64_t waited = poller.NextDueMs() - now;
    now = poller.NextDueMs();
    return waited;
  }
  // The next poll. It asks for the neighbours before, if the link was broken.
  Request NextPoll() {
    const Request request = NextRequest();
    if (request.lane == Lane::kPoll) {
      return request;
    }
    CHECK(Respond(request, 200, NeighboursText()).neighbours);
    WaitUntilDue();
    return NextRequest();
  }
  void Join(const Json& more = Json::object()) {
    CHECK(Respond(NextRequest(), 201, SeatText(more)).seated);
    WaitUntilDue();
    CHECK(Respond(NextRequest(), 200, NeighboursText()).neighbours);
    WaitUntilDue();
  }

  Poller poller;
  RequestId next_id = 1;
  int64_t now = 0;
};

TEST_CASE("poller › has the constants of the vectors, as departures have") {
  const Json& constants = RelayVectors()["constants"];
  CHECK(constants["BACKOFF_MS_FIRST"] == kBackoffMsFirst);
  CHECK(constants["BACKOFF_MS_MAX"] == kBackoffMsMax);
  CHECK(constants["BYE_MS_MAX"] == kByeMsMax);
  CHECK(constants["REFUSED_MS_MAX"] == kRefusedMsMax);
  CHECK(constants["CROSSINGS_AHEAD_MAX"] == kCrossingsAhead);
  CHECK(constants["FORMER_TRIES_MAX"] == kFormerTriesMax);
  CHECK(constants.size() == 6);
}

TEST_CASE("poller › waits, and polls next, as in the vectors") {
  for (const Json& one : RelayVectors()["polls"]) {
    CAPTURE(one["name"].get<std::string>());
    Fixture fixture(kRelay, {"Ann", "", "", 800, 600}, one.value("random", 0.5));
    fixture.Join({{"cursor", "00000001-0"}, {"leaseSeconds", one.value("leaseSeconds", 30)}});
    Request poll = fixture.NextRequest();
    for (const Json& step : one["steps"]) {
      CAPTURE(step.dump());
      fixture.now += 1'000;  // the relay holds it for so long
      const News news = fixture.Respond(poll, step["answer"]);
      CHECK(news.cursor_lost == step.value("restarts", false));
      CHECK(news.seat_ended == step.contains("lostAfter"));
      if (news.seat_ended) {
        CHECK(LostAfter(news) == step["lostAfter"]);
        continue;
      }
      if (step.contains("received")) {
        CHECK(news.batch->events == step["received"].get<size_t>());
      }
      if (step.contains("isUp")) {
        CHECK((fixture.poller.link() == Link::kConnected) == step["isUp"].get<bool>());
      }
      fixture.poller.ResumePolling();
      CHECK(fixture.WaitUntilDue() == step["waitMs"].get<int64_t>());
      poll = fixture.NextPoll();
      CHECK(poll.url.ends_with("?cursor=" + step["poll"].get<std::string>()));
    }
  }
}

TEST_CASE("poller › waits between joins as in the vectors, and reports why one was refused") {
  for (const Json& one : RelayVectors()["joins"]) {
    CAPTURE(one["name"].get<std::string>());
    Fixture fixture;
    for (size_t i = 0; i < one["answers"].size(); i++) {
      const Json& answer = one["answers"][i];
      const News news = fixture.Respond(fixture.NextRequest(), answer);
      CHECK(news.refused.code.empty() == (answer["status"] == 0));
      CHECK(fixture.WaitUntilDue() == one["waitsMs"][i].get<int64_t>());
    }
  }
}

TEST_CASE("poller › learns at the end of its seat what was acknowledged, as in the vectors") {
  for (const Json& one : RelayVectors()["ends"]) {
    CAPTURE(one["name"].get<std::string>());
    Fixture fixture;
    fixture.Join();
    fixture.Respond(fixture.NextRequest(), 200, BatchText(one["cursor"], kPing));
    fixture.poller.ResumePolling();
    fixture.WaitUntilDue();
    for (int polls = 1; polls < one["polls"].get<int>(); polls++) {
      fixture.Respond(fixture.NextPoll(), 0);
      fixture.WaitUntilDue();
    }
    Json problem = {{"code", "desktop-ended"}};
    if (!one["acknowledged"].is_null()) {
      problem["cursor"] = one["acknowledged"];
    }
    const News news = fixture.Respond(fixture.NextPoll(), 410, WriteJson(problem));
    CHECK(news.seat_ended);
    CHECK(LostAfter(news) == one["lostAfter"]);
  }
}

TEST_CASE("poller › sends its requests to the relay that the join was passed on to") {
  Fixture fixture;
  const std::string there = "http://r2.relay.example:8180/v1/desktops/1a2b-3f";
  const std::string seat = SeatText({{"crossings", there + "/crossings"}});
  CHECK(fixture.poller.relay() == kRelay);
  CHECK(fixture.Respond(fixture.NextRequest(), 201, seat).seated);
  CHECK(fixture.poller.relay() == "http://r2.relay.example:8180");
  fixture.WaitUntilDue();
  const Request look = fixture.NextRequest();
  CHECK(look.url == there);
  CHECK(fixture.poller.LeaveRequest(99).url == there);
  CHECK(fixture.Respond(look, 410, R"({"code":"desktop-ended"})").seat_ended);
  fixture.WaitUntilDue();
  CHECK(fixture.NextRequest().url == std::string(kRelay) + "/v1/desktops");
}

TEST_CASE("poller › joins, fetches its neighbours, and polls with its cursor") {
  Fixture fixture;
  const Request join = fixture.NextRequest();
  CHECK(join.method == Method::kPost);
  CHECK(join.url == "http://relay.example:8080/v1/desktops");
  CHECK(Json::parse(join.body) ==
        Json::parse(R"({"name":"Ann","screen":{"width":800,"height":600}})"));
  CHECK(join.token.empty());
  CHECK(!fixture.poller.DueRequest(1'000'000, &fixture.next_id));
  CHECK(fixture.Respond(join, 201, SeatText()).seated);
  CHECK(fixture.poller.link() == Link::kJoining);
  fixture.WaitUntilDue();
  const Request look = fixture.NextRequest();
  CHECK(look.url == "http://relay.example:8080/v1/desktops/1a2b-3f");
  const News news = fixture.Respond(look, 200, NeighboursText());
  CHECK((*news.neighbours)[0].name == "Bob");
  CHECK(fixture.poller.link() == Link::kConnected);
  const Request poll = fixture.NextRequest();
  CHECK(poll.lane == Lane::kPoll);
  CHECK(poll.url == "http://relay.example:8081/v1/desktops/1a2b-3f/events?cursor=6a1f03c2-0");
  CHECK(poll.token == "1a2b-3f.00112233445566778899aabbccddeeff");
  CHECK(poll.timeout_ms == 180'000);
}

TEST_CASE("poller › polls with the new cursor, but only once the batch is handled") {
  Fixture fixture;
  fixture.Join();
  const News news = fixture.Respond(fixture.NextRequest(), 200, BatchText("6a1f03c2-81", kPing));
  CHECK(news.batch->cursor == "6a1f03c2-81");
  CHECK(fixture.poller.NextDueMs() == kNever);
  fixture.now += 1'000;
  CHECK(!fixture.poller.DueRequest(fixture.now, &fixture.next_id));
  fixture.poller.ResumePolling();
  CHECK(fixture.NextRequest().url.ends_with("?cursor=6a1f03c2-81"));
}

TEST_CASE("poller › joins again when its seat has ended, after a pause") {
  for (const auto& [status, code] :
       {std::pair{410, "desktop-ended"}, std::pair{401, "unknown-desktop"}}) {
    Fixture fixture;
    fixture.Join();
    CHECK(
        fixture.Respond(fixture.NextRequest(), status, WriteJson(Json{{"code", code}})).seat_ended);
    CHECK(!fixture.poller.seat());
    CHECK(fixture.WaitUntilDue() >= kBackoffMsFirst / 2);
    CHECK(fixture.NextRequest().method == Method::kPost);
  }
}

constexpr char kOther[] = "http://r2.example:8080";

// The relay of the seat stops for good, and names another one.
Json Bye(const std::string& join) {
  return {{{"type", "bye"}, {"retryAfterMs", 3000}, {"join", join + "/v1/desktops"}}};
}

std::string SeatAt(const std::string& relay) {
  return SeatText({{"events", relay + "/events"}, {"crossings", relay + "/crossings"}});
}

TEST_CASE("poller › moves to the relay that a bye names, after its time") {
  Fixture fixture;
  fixture.Join();
  fixture.Respond(fixture.NextRequest(), 200, BatchText("6a1f03c2-1", Bye(kOther)));
  fixture.poller.ResumePolling();
  CHECK(fixture.poller.seat());  // it still gets the verdicts on what was thrown
  CHECK(fixture.poller.link() == Link::kConnected);
  CHECK(fixture.WaitUntilDue() == 3000);
  const Request join = fixture.NextRequest();
  CHECK(!fixture.poller.seat());
  CHECK(join.url == std::string(kOther) + "/v1/desktops");
  CHECK(Json::parse(join.body)["name"] == "Ann");
  CHECK(join.token.empty());
  const News news = fixture.Respond(join, 201, SeatAt(kOther));
  CHECK(news.seated);
  CHECK(!news.batch_was_lost);
  CHECK(fixture.poller.relay() == kOther);
  CHECK(fixture.poller.joined_at() == kOther);
  CHECK(fixture.poller.site() == kOther);
  fixture.WaitUntilDue();
  CHECK(fixture.NextRequest().url.starts_with(kOther));
}

TEST_CASE("poller › joins where it began when the named relay fails, and then at the two in turn") {
  Fixture fixture;
  fixture.Join();
  fixture.Respond(fixture.NextRequest(), 200, BatchText("6a1f03c2-1", Bye(kOther)));
  fixture.poller.ResumePolling();
  fixture.WaitUntilDue();
  int64_t waited = 0;
  for (int i = 0; i < 5; i++) {
    const Request join = fixture.NextRequest();
    CHECK(join.url == std::string(i % 2 == 0 ? kOther : kRelay) + "/v1/desktops");
    fixture.Respond(join, i == 2 ? 503 : 0, R"({"code":"relay-busy"})");
    const int64_t wait = fixture.WaitUntilDue();
    CHECK(wait > waited);
    waited = wait;
  }
  CHECK(fixture.Respond(fixture.NextRequest(), 201, SeatText()).seated);
  CHECK(fixture.poller.relay() == kRelay);
  CHECK(fixture.poller.joined_at() == kRelay);
}

TEST_CASE("poller › stays when a bye names what it must not follow, or too often") {
  Fixture secure("https://relay.example");
  secure.Join({{"events", "https://relay.example/events"},
               {"crossings", "https://relay.example/crossings"}});
  secure.Respond(secure.NextRequest(), 200, BatchText("6a1f03c2-1", Bye(kOther)));
  secure.poller.ResumePolling();
  secure.WaitUntilDue();
  CHECK(secure.NextRequest().url == "https://relay.example/v1/desktops/1a2b-3f");

  Fixture fixture;
  fixture.Join();
  for (size_t i = 0; i <= kMovesMax; i++) {
    fixture.Respond(fixture.NextRequest(), 200, BatchText("6a1f03c2-1", Bye(kRelay)));
    fixture.poller.ResumePolling();
    fixture.WaitUntilDue();
    const Request request = fixture.NextRequest();
    CHECK((request.method == Method::kPost) == (i < kMovesMax));
    if (i < kMovesMax) {
      CHECK(fixture.Respond(request, 201, SeatText()).seated);
      fixture.WaitUntilDue();
      fixture.Respond(fixture.NextRequest(), 200, NeighboursText());
      fixture.WaitUntilDue();
    }
  }
}

TEST_CASE("poller › joins where it began when the relay of its seat is gone, in turn with it") {
  Fixture fixture;
  const std::string there = "http://r2.relay.example";
  fixture.Join({{"events", there + "/events"}, {"crossings", there + "/crossings"}});
  const int64_t answered = fixture.now;
  bool is_lost = false;
  for (int i = 0; i < 30; i++) {
    const Request request = fixture.NextRequest();
    CHECK(request.url.starts_with(is_lost ? kRelay : there));
    fixture.Respond(request, 0);
    is_lost = !is_lost && fixture.now - answered >= kLostMs;
    CHECK(fixture.poller.seat());
    fixture.WaitUntilDue();
  }
  Request request = fixture.NextRequest();
  if (request.method != Method::kPost) {
    fixture.Respond(request, 0);
    fixture.WaitUntilDue();
    request = fixture.NextRequest();
  }
  CHECK(fixture.Respond(request, 201, SeatText({{"desktop", "2-2"}})).seated);
  CHECK(fixture.poller.seat()->desktop == "2-2");
  CHECK(fixture.poller.relay() == kRelay);
}

TEST_CASE("poller › goes on with its seat when the relay that was gone answers again") {
  Fixture fixture;
  const std::string there = "http://r2.relay.example";
  fixture.Join({{"events", there + "/events"}, {"crossings", there + "/crossings"}});
  fixture.Respond(fixture.NextRequest(), 0);
  fixture.now += kLostMs;
  fixture.Respond(fixture.NextRequest(), 0);
  fixture.WaitUntilDue();
  fixture.Respond(fixture.NextRequest(), 0);  // the join
  fixture.WaitUntilDue();
  const Request look = fixture.NextRequest();
  CHECK(look.url.starts_with(there));
  CHECK(fixture.Respond(look, 200, NeighboursText()).neighbours);
  CHECK(fixture.poller.link() == Link::kConnected);
}

TEST_CASE("poller › keeps trying the only address when that is gone") {
  Fixture fixture;
  fixture.Join();
  for (int i = 0; i < 30; i++) {
    fixture.now += kLostMs;
    const Request request = fixture.NextRequest();
    CHECK(request.method == Method::kGet);
    fixture.Respond(request, 0);
    fixture.WaitUntilDue();
  }
}

TEST_CASE("poller › joins elsewhere when the friend has left") {
  Fixture fixture(kRelay, {"Ann", "", "1a2c.00112233445566778899aabbccddeeff", 800, 600});
  const Request join = fixture.NextRequest();
  CHECK(Json::parse(join.body)["near"] == "1a2c.00112233445566778899aabbccddeeff");
  CHECK(fixture.Respond(join, 409, R"({"code":"near-gone"})").refused.code.empty());
  CHECK(!Json::parse(fixture.NextRequest().body).contains("near"));
}

TEST_CASE("poller › keeps its pauses when a relay responds with nothing, or too fast") {
  Fixture fixture;
  fixture.Join();
  int64_t last = 0;
  for (int i = 0; i < 5; i++) {
    fixture.Respond(fixture.NextRequest(), 200, BatchText("6a1f03c2-0", Json::array()));
    fixture.poller.ResumePolling();
    const int64_t waited = fixture.WaitUntilDue();
    CHECK(waited > last);
    last = waited;
  }
  for (int i = 0; i < 5; i++) {
    fixture.Respond(fixture.NextRequest(), 200, BatchText("6a1f03c2-0", kPing));
    fixture.poller.ResumePolling();
    CHECK(fixture.WaitUntilDue() >= kPollMsMin);
  }
}

TEST_CASE("poller › ignores responses to other requests, and rejects what is not a batch") {
  Fixture fixture;
  fixture.Join();
  const Request poll = fixture.NextRequest();
  CHECK(!fixture.poller.HandleResponse({poll.id + 1, 200, BatchText("6a1f03c2-1", kPing)}, 0));
  CHECK(!fixture.poller.HandleResponse({0, 200}, 0));
  const News news = fixture.Respond(poll, 200, "nonsense");
  CHECK(!news.batch);
  CHECK(fixture.poller.link() == Link::kBroken);
  CHECK(fixture.poller.seat()->cursor == "6a1f03c2-0");
}

TEST_CASE("poller › continues with a saved seat") {
  Fixture fixture;
  fixture.poller.UseSeat(*ReadSeat(SeatText({{"cursor", "6a1f03c2-5"}}), kRelay), kRelay);
  CHECK(fixture.NextRequest().url.ends_with("/1a2b-3f"));
}

TEST_CASE("poller › sends nothing to an invalid relay address") {
  Fixture fixture("nowhere");
  CHECK(!fixture.poller.DueRequest(0, &fixture.next_id));
  CHECK(fixture.poller.NextDueMs() == kNever);
}

TEST_CASE("poller › is connected only after a response with neighbours") {
  Fixture fixture;
  fixture.Respond(fixture.NextRequest(), 201, SeatText());
  fixture.WaitUntilDue();
  CHECK(!fixture.Respond(fixture.NextRequest(), 200, "<html>Please log in</html>").neighbours);
  CHECK(fixture.poller.link() != Link::kConnected);
  CHECK(fixture.WaitUntilDue() > 0);
  CHECK(fixture.Respond(fixture.NextRequest(), 200, NeighboursText()).neighbours);
  CHECK(fixture.poller.link() == Link::kConnected);
}

TEST_CASE("poller › polls also while no neighbour is known yet") {
  Fixture fixture;
  fixture.Respond(fixture.NextRequest(), 201, SeatText());
  fixture.WaitUntilDue();
  CHECK(fixture.Respond(fixture.NextRequest(), 200, R"({"neighbours":{}})").neighbours);
  CHECK(fixture.poller.link() == Link::kConnected);
  CHECK(fixture.NextRequest().lane == Lane::kPoll);
}

}  // namespace
}  // namespace sprites
