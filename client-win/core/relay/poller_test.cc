#include "core/relay/poller.h"

#include <doctest/doctest.h>

#include <limits>

#include "core/relay/backoff.h"
#include "core/text/json.h"

namespace sprites {
namespace {

constexpr char kRelay[] = "http://relay.example:8080";
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

std::string SeatText(const Json& more = Json::object()) {
  Json seat = {{"desktop", "1a2b-3f"},
               {"token", "1a2b-3f.00112233445566778899aabbccddeeff"},
               {"world", "commons"},
               {"cursor", "6a1f03c2-0"},
               {"events", "http://relay.example:8081/v1/desktops/1a2b-3f/events"},
               {"crossings", "http://relay.example:8080/v1/desktops/1a2b-3f/crossings"},
               {"pingSeconds", 120},
               {"leaseSeconds", 30}};
  seat.update(more);
  return WriteJson(seat);
}

std::string NeighboursText() {
  const Json bob = {{"desktop", "9-3e"}, {"name", "Bob"}};
  return WriteJson(
      {{"neighbours", {{"left", bob}, {"right", bob}, {"top", bob}, {"bottom", bob}}}});
}

std::string BatchText(const std::string& cursor, const Json& events) {
  return WriteJson({{"cursor", cursor}, {"events", events}});
}

const Json kPing = {{{"type", "ping"}}};

// A poller and its clock, and what it asks.
struct Life {
  explicit Life(const std::string& relay = kRelay, JoinOptions options = {"Ann", "", "", 800, 600})
      : poller(relay, std::move(options), [] { return 0.5; }) {}

  // What it asks now; the test fails when it asks nothing.
  Request Asks() {
    const auto request = poller.DueRequest(now, &next_id);
    REQUIRE(request);
    return *request;
  }
  News Answers(const Request& request, int status, const std::string& body = "",
               int retry_after = 0) {
    const auto news = poller.HandleResponse({request.id, status, body, retry_after}, now);
    REQUIRE(news);
    return *news;
  }
  // Waits until it may ask again; how long that was.
  int64_t Waits() {
    CHECK(!poller.DueRequest(poller.NextDueMs() - 1, &next_id));
    const int64_t waited = poller.NextDueMs() - now;
    now = poller.NextDueMs();
    return waited;
  }
  void Seated() {
    CHECK(Answers(Asks(), 201, SeatText()).seated);
    Waits();
    CHECK(Answers(Asks(), 200, NeighboursText()).neighbours);
    Waits();
  }

  Poller poller;
  RequestId next_id = 1;
  int64_t now = 0;
};

TEST_CASE("poller › joins, looks around, and polls with its cursor") {
  Life life;
  const Request join = life.Asks();
  CHECK(join.method == Method::kPost);
  CHECK(join.url == "http://relay.example:8080/v1/desktops");
  CHECK(Json::parse(join.body) ==
        Json::parse(R"({"name":"Ann","screen":{"width":800,"height":600}})"));
  CHECK(join.token.empty());
  CHECK(!life.poller.DueRequest(1'000'000, &life.next_id));
  CHECK(life.Answers(join, 201, SeatText()).seated);
  CHECK(life.poller.link() == Link::kJoining);
  life.Waits();
  const Request look = life.Asks();
  CHECK(look.url == "http://relay.example:8080/v1/desktops/1a2b-3f");
  const News news = life.Answers(look, 200, NeighboursText());
  CHECK((*news.neighbours)[0].name == "Bob");
  CHECK(life.poller.link() == Link::kConnected);
  const Request poll = life.Asks();
  CHECK(poll.lane == Lane::kPoll);
  CHECK(poll.url == "http://relay.example:8081/v1/desktops/1a2b-3f/events?cursor=6a1f03c2-0");
  CHECK(poll.token == "1a2b-3f.00112233445566778899aabbccddeeff");
  CHECK(poll.timeout_ms == 180'000);
}

TEST_CASE("poller › asks on only when what came is taken in, with the cursor behind it") {
  Life life;
  life.Seated();
  const News news = life.Answers(life.Asks(), 200, BatchText("6a1f03c2-81", kPing));
  CHECK(news.batch->cursor == "6a1f03c2-81");
  CHECK(life.poller.NextDueMs() == kNever);
  life.now += 1'000;
  CHECK(!life.poller.DueRequest(life.now, &life.next_id));
  life.poller.ResumePolling();
  CHECK(life.Asks().url.ends_with("?cursor=6a1f03c2-81"));
}

TEST_CASE("poller › waits twice as long after each failure, half by chance, at most 15 s") {
  Life life;
  life.Seated();
  int64_t expected = kBackoffMsFirst;
  for (int i = 0; i < 8; i++) {
    life.Answers(life.Asks(), 0);
    CHECK(life.poller.link() == Link::kBroken);
    CHECK(life.Waits() == expected * 3 / 4);
    expected = std::min(2 * expected, kBackoffMsMax);
  }
  // Back again: it looks first, for a held poll would not tell.
  CHECK(life.Asks().url.ends_with("/1a2b-3f"));
}

TEST_CASE("poller › begins with a short wait again after a poll that went well") {
  Life life;
  life.Seated();
  life.Answers(life.Asks(), 0);
  life.Waits();
  life.Answers(life.Asks(), 200, NeighboursText());
  CHECK(life.poller.link() == Link::kConnected);
  life.Waits();
  life.Answers(life.Asks(), 200, BatchText("6a1f03c2-1", kPing));
  life.poller.ResumePolling();
  life.Waits();
  life.Answers(life.Asks(), 502, "<html>");
  CHECK(life.Waits() == kBackoffMsFirst * 3 / 4);
}

TEST_CASE("poller › joins anew when its seat is gone, not at once") {
  for (const auto& [status, code] :
       {std::pair{410, "desktop-ended"}, std::pair{401, "unknown-desktop"}}) {
    Life life;
    life.Seated();
    CHECK(life.Answers(life.Asks(), status, WriteJson(Json{{"code", code}})).seat_ended);
    CHECK(!life.poller.seat());
    CHECK(life.Waits() >= kBackoffMsFirst / 2);
    CHECK(life.Asks().method == Method::kPost);
  }
}

TEST_CASE("poller › knows whether its last batch was ever acknowledged when its seat is gone") {
  const std::string ended = R"({"code":"desktop-ended"})";
  Life first;
  first.Seated();
  first.Answers(first.Asks(), 200, BatchText("6a1f03c2-1", kPing));
  first.poller.ResumePolling();
  first.Waits();
  CHECK(first.Answers(first.Asks(), 410, ended).batch_was_lost);

  Life second;
  second.Seated();
  second.Answers(second.Asks(), 200, BatchText("6a1f03c2-1", kPing));
  second.poller.ResumePolling();
  second.Waits();
  second.Answers(second.Asks(), 0);  // it may have come through
  second.Waits();
  const News news = second.Answers(second.Asks(), 410, ended);
  CHECK(news.seat_ended);
  CHECK(!news.batch_was_lost);
}

TEST_CASE("poller › goes on from the cursor a restarted relay gives it") {
  for (const auto& [status, code] :
       {std::pair{410, "cursor-lost"}, std::pair{400, "cursor-ahead"}}) {
    Life life;
    life.Seated();
    const Json problem = {{"code", code}, {"cursor", "77777777-0"}};
    CHECK(life.Answers(life.Asks(), status, WriteJson(problem)).cursor_lost);
    life.Waits();
    CHECK(life.Asks().url.ends_with("?cursor=77777777-0"));
  }
}

TEST_CASE("poller › stays away as long as a bye says, within a limit, and by chance") {
  Life life;
  life.Seated();
  const Json bye = {{{"type", "bye"}, {"retryAfterMs", 3000}}};
  life.Answers(life.Asks(), 200, BatchText("6a1f03c2-1", bye));
  life.poller.ResumePolling();
  CHECK(life.Waits() == 3000);
  life.Answers(life.Asks(), 200, NeighboursText());
  life.Waits();
  const Json long_bye = {{{"type", "bye"}, {"retryAfterMs", 1e15}}};
  life.Answers(life.Asks(), 200, BatchText("6a1f03c2-1", long_bye));
  life.poller.ResumePolling();
  CHECK(life.Waits() <= kByeMsMax * 3 / 2);
}

TEST_CASE("poller › comes back when a full relay says, within a limit, and tells why") {
  Life life;
  const News news = life.Answers(life.Asks(), 503, R"({"code":"relay-full","title":"Full."})", 60);
  CHECK(news.refused.code == "relay-full");
  CHECK(life.Waits() == 60'000);
  life.Answers(life.Asks(), 503, "", 1'000'000'000);
  CHECK(life.Waits() == kRetryAfterMsMax);
}

TEST_CASE("poller › sits somewhere else when the friend is gone") {
  Life life(kRelay, {"Ann", "", "1a2c-3f", 800, 600});
  const Request join = life.Asks();
  CHECK(Json::parse(join.body)["near"] == "1a2c-3f");
  CHECK(life.Answers(join, 409, R"({"code":"near-gone"})").refused.code.empty());
  CHECK(!Json::parse(life.Asks().body).contains("near"));
}

TEST_CASE("poller › is not hurried by a relay that answers with nothing, or too fast") {
  Life life;
  life.Seated();
  int64_t last = 0;
  for (int i = 0; i < 5; i++) {
    life.Answers(life.Asks(), 200, BatchText("6a1f03c2-0", Json::array()));
    life.poller.ResumePolling();
    const int64_t waited = life.Waits();
    CHECK(waited > last);
    last = waited;
  }
  for (int i = 0; i < 5; i++) {
    life.Answers(life.Asks(), 200, BatchText("6a1f03c2-0", kPing));
    life.poller.ResumePolling();
    CHECK(life.Waits() >= kPollMsMin);
  }
}

TEST_CASE("poller › takes no answer that is no batch, and none to another question") {
  Life life;
  life.Seated();
  const Request poll = life.Asks();
  CHECK(!life.poller.HandleResponse({poll.id + 1, 200, BatchText("6a1f03c2-1", kPing)}, 0));
  CHECK(!life.poller.HandleResponse({0, 200}, 0));
  const News news = life.Answers(poll, 200, "nonsense");
  CHECK(!news.batch);
  CHECK(life.poller.link() == Link::kBroken);
  CHECK(life.poller.seat()->cursor == "6a1f03c2-0");
}

TEST_CASE("poller › goes on with a seat that was kept") {
  Life life;
  life.poller.UseSeat(*ReadSeat(SeatText({{"cursor", "6a1f03c2-5"}}), kRelay));
  CHECK(life.Asks().url.ends_with("/1a2b-3f"));
}

TEST_CASE("poller › asks nothing of a relay that is no address") {
  Life life("nowhere");
  CHECK(!life.poller.DueRequest(0, &life.next_id));
  CHECK(life.poller.NextDueMs() == kNever);
}

TEST_CASE("poller › takes no look for one that does not say who lies around") {
  Life life;
  life.Answers(life.Asks(), 201, SeatText());
  life.Waits();
  CHECK(!life.Answers(life.Asks(), 200, "<html>Please log in</html>").neighbours);
  CHECK(life.poller.link() != Link::kConnected);
  CHECK(life.Waits() > 0);
  CHECK(life.Answers(life.Asks(), 200, NeighboursText()).neighbours);
  CHECK(life.poller.link() == Link::kConnected);
}

}  // namespace
}  // namespace sprites
