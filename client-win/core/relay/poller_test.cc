// Also plays relay.vectors.json; test/relay.test.ts plays it in the browser's.
#include "core/relay/poller.h"

#include <doctest/doctest.h>

#include <limits>

#include "core/relay/backoff.h"
#include "core/relay/test_relay.h"
#include "core/text/test_vectors.h"

namespace sprites {
namespace {

constexpr int64_t kLostMs = kLostLeases * 30'000;  // at the lease of SeatText
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

// A poller, its clock, and a relay played by the test.
struct Fixture {
  explicit Fixture(const std::string& relay = kRelay,
                   JoinOptions options = {"Ann", "", "", 800, 600})
      : poller(relay, std::move(options), [] { return 0.5; }) {}

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

const Json& RelayVectors() {
  static const Json vectors = ReadVectors(RELAY_VECTORS);
  return vectors;
}

TEST_CASE("poller › waits, and polls next, as in the vectors") {
  for (const Json& one : RelayVectors()["polls"]) {
    CAPTURE(one["name"].get<std::string>());
    Fixture fixture;
    fixture.Join({{"cursor", "00000001-0"}, {"leaseSeconds", one["leaseSeconds"]}});
    Request poll = fixture.NextRequest();
    for (const Json& step : one["steps"]) {
      CAPTURE(step.dump());
      fixture.now += 1'000;  // the relay holds it for so long
      fixture.Respond(poll, step["answer"]["status"].get<int>());
      CHECK(fixture.WaitUntilDue() == step["waitMs"].get<int64_t>());
      poll = fixture.NextPoll();
      CHECK(poll.url.ends_with("?cursor=" + step["poll"].get<std::string>()));
    }
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

TEST_CASE("poller › doubles its wait after each failure, with jitter, up to 15 s") {
  Fixture fixture;
  fixture.Join();
  int64_t expected = kBackoffMsFirst;
  for (int i = 0; i < 8; i++) {
    fixture.Respond(fixture.NextRequest(), 0);
    CHECK(fixture.poller.link() == Link::kBroken);
    CHECK(fixture.WaitUntilDue() == expected * 3 / 4);
    expected = std::min(2 * expected, kBackoffMsMax);
  }
  // It fetches the neighbours first, because a poll would be held without telling.
  CHECK(fixture.NextRequest().url.ends_with("/1a2b-3f"));
}

TEST_CASE("poller › starts with a short wait again after a successful poll") {
  Fixture fixture;
  fixture.Join();
  fixture.Respond(fixture.NextRequest(), 0);
  fixture.WaitUntilDue();
  fixture.Respond(fixture.NextRequest(), 200, NeighboursText());
  CHECK(fixture.poller.link() == Link::kConnected);
  fixture.WaitUntilDue();
  fixture.Respond(fixture.NextRequest(), 200, BatchText("6a1f03c2-1", kPing));
  fixture.poller.ResumePolling();
  fixture.WaitUntilDue();
  fixture.Respond(fixture.NextRequest(), 502, "<html>");
  CHECK(fixture.WaitUntilDue() == kBackoffMsFirst * 3 / 4);
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

TEST_CASE("poller › knows whether its last batch was acknowledged when its seat ends") {
  const std::string ended = R"({"code":"desktop-ended"})";
  Fixture first;
  first.Join();
  first.Respond(first.NextRequest(), 200, BatchText("6a1f03c2-1", kPing));
  first.poller.ResumePolling();
  first.WaitUntilDue();
  CHECK(first.Respond(first.NextRequest(), 410, ended).batch_was_lost);

  Fixture second;
  second.Join();
  second.Respond(second.NextRequest(), 200, BatchText("6a1f03c2-1", kPing));
  second.poller.ResumePolling();
  second.WaitUntilDue();
  second.Respond(second.NextRequest(), 0);  // the relay may have received it
  second.WaitUntilDue();
  const News news = second.Respond(second.NextRequest(), 410, ended);
  CHECK(news.seat_ended);
  CHECK(!news.batch_was_lost);
}

TEST_CASE("poller › learns at the end of its seat what was acknowledged, as in the vectors") {
  const Json vectors = ReadVectors(DEPARTURE_VECTORS);
  for (const Json& one : vectors["ends"]) {
    CAPTURE(one["name"].get<std::string>());
    const std::string cursor = one["cursor"];
    Fixture fixture;
    fixture.Join();
    fixture.Respond(fixture.NextRequest(), 200, BatchText(cursor, kPing));
    fixture.poller.ResumePolling();
    fixture.WaitUntilDue();
    for (int polls = 1; polls < one["polls"].get<int>(); polls++) {
      fixture.Respond(fixture.NextRequest(), 0);
      fixture.WaitUntilDue();
      fixture.Respond(fixture.NextRequest(), 200, NeighboursText());
      fixture.WaitUntilDue();
    }
    Json problem = {{"code", "desktop-ended"}};
    if (!one["acknowledged"].is_null()) {
      problem["cursor"] = one["acknowledged"];
    }
    const News news = fixture.Respond(fixture.NextRequest(), 410, WriteJson(problem));
    CHECK(news.seat_ended);
    const uint64_t last = 9;  // of the batch
    CHECK((news.acknowledged ? *news.acknowledged < last : news.batch_was_lost) ==
          one["isLost"].get<bool>());
  }
}

TEST_CASE("poller › continues from the cursor that a restarted relay gives") {
  for (const auto& [status, code] :
       {std::pair{410, "cursor-lost"}, std::pair{400, "cursor-ahead"}}) {
    Fixture fixture;
    fixture.Join();
    const Json problem = {{"code", code}, {"cursor", "77777777-0"}};
    CHECK(fixture.Respond(fixture.NextRequest(), status, WriteJson(problem)).cursor_lost);
    fixture.WaitUntilDue();
    CHECK(fixture.NextRequest().url.ends_with("?cursor=77777777-0"));
  }
}

TEST_CASE("poller › waits longer each time a relay refuses the cursor that it named") {
  Fixture fixture;
  fixture.Join();
  const Json problem = {{"code", "cursor-lost"}, {"cursor", "77777777-0"}};
  int64_t expected = kBackoffMsFirst;
  for (int i = 0; i < 8; i++) {
    fixture.Respond(fixture.NextRequest(), 410, WriteJson(problem));
    CHECK(fixture.WaitUntilDue() == expected * 3 / 4);
    expected = std::min(2 * expected, kBackoffMsMax);
  }
}

TEST_CASE("poller › stays away as long as a bye says, with jitter, up to a limit") {
  Fixture fixture;
  fixture.Join();
  const Json bye = {{{"type", "bye"}, {"retryAfterMs", 3000}}};
  fixture.Respond(fixture.NextRequest(), 200, BatchText("6a1f03c2-1", bye));
  fixture.poller.ResumePolling();
  CHECK(fixture.WaitUntilDue() == 3000);
  fixture.Respond(fixture.NextRequest(), 200, NeighboursText());
  fixture.WaitUntilDue();
  const Json long_bye = {{{"type", "bye"}, {"retryAfterMs", 1e15}}};
  fixture.Respond(fixture.NextRequest(), 200, BatchText("6a1f03c2-1", long_bye));
  fixture.poller.ResumePolling();
  CHECK(fixture.WaitUntilDue() <= kByeMsMax * 3 / 2);
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

TEST_CASE("poller › retries when a full relay says, up to a limit, and reports why") {
  Fixture fixture;
  const News news =
      fixture.Respond(fixture.NextRequest(), 503, R"({"code":"relay-full","title":"Full."})", 60);
  CHECK(news.refused.code == "relay-full");
  CHECK(fixture.WaitUntilDue() == 60'000);
  fixture.Respond(fixture.NextRequest(), 503, "", 1'000'000'000);
  CHECK(fixture.WaitUntilDue() == kRetryAfterMsMax);
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
