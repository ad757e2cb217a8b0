// A desktop does not flood a relay, whatever the relay answers and for however long.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "core/desktop/desktop.h"
#include "core/relay/backoff.h"
#include "core/relay/request_budget.h"
#include "core/text/json.h"
#include "test/core/test_relay.h"
#include "test/core/test_spr.h"
#include "wire/rules.h"

namespace sprites {
namespace {

constexpr char kInvitation[] = "1a2c.00112233445566778899aabbccddeeff";
constexpr int64_t kRoundTripMs = 10;

enum class Kind : uint8_t { kJoin, kLook, kPoll, kCrossing, kUpload, kFetch, kOther };
constexpr Kind kKinds[] = {Kind::kJoin,     Kind::kLook,   Kind::kPoll,
                           Kind::kCrossing, Kind::kUpload, Kind::kFetch};

Kind KindOf(const Request& request) {
  const auto has = [&](const char* part) { return request.url.find(part) != std::string::npos; };
  return has("/events")                                                  ? Kind::kPoll
         : has("/crossings")                                             ? Kind::kCrossing
         : has("/sprites/") && request.method == Method::kPut            ? Kind::kUpload
         : has("/sprites/")                                              ? Kind::kFetch
         : request.method == Method::kPost && has("/v1/desktops")        ? Kind::kJoin
         : request.method == Method::kGet && !request.url.ends_with("s") ? Kind::kLook
                                                                         : Kind::kOther;
}

std::string Refusal(const rules::Problem& problem) {
  return WriteJson({{"code", problem.code}, {"title", problem.code}, {"cursor", "77777777-0"}});
}

std::string JoinText() {
  const std::string base = std::string(kRelay) + "/v1/desktops/1-1";
  return WriteJson({{"desktop", "1-1"},
                    {"token", "1-1.00"},
                    {"world", "ours"},
                    {"cursor", "6a1f03c2-0"},
                    {"events", base + "/events"},
                    {"crossings", base + "/crossings"}});
}

std::string NeighboursText() {
  const Json bob = {{"desktop", "9-3e"}, {"name", "Bob"}};
  return WriteJson(
      {{"neighbours", {{"left", bob}, {"right", bob}, {"top", bob}, {"bottom", bob}}}});
}

// A desktop, a person who throws a sprite now and then, and a relay that is a function of requests.
struct Play {
  using Relay = std::function<std::optional<Response>(const Request&)>;  // nothing: held

  explicit Play(Relay played, const std::string& beside = "")
      : relay(std::move(played)), desktop(Given(beside), [this] {
          return std::uniform_real_distribution<double>(0, 1)(engine);
        }) {
    const Rect all{0, 0, 800, 600};
    desktop.look().SetMonitors(std::vector<Monitor>{{all, all, 1, true}});
    desktop.look().AddToShelf(ReadSheet(TestSpr(0)));
    desktop.sprites().DropIn(ReadSheet(TestSpr(0))->file, Point{400, 600});
  }

  static Settings Given(const std::string& beside) {
    Settings settings;
    settings.relay = kRelay;
    settings.beside = beside;
    settings.calm = true;
    settings.muted = {{"", "Mallory"}};
    return settings;
  }

  void Pass(int64_t ms) {
    const int64_t end = now + ms;
    while (now < end) {
      const double idle = desktop.Tick(now).idle_ms;
      const Outbox outbox = desktop.PopOutbox();
      for (const Request& request : outbox.requests) {
        if (request.url.empty()) {
          continue;  // a file to delete here
        }
        sent.push_back({now, KindOf(request)});
        if (auto response = relay(request)) {
          response->id = request.id;
          responses.push_back({now + kRoundTripMs, std::move(*response)});
        }
      }
      now += outbox.requests.empty() ? std::max<int64_t>(kRoundTripMs, static_cast<int64_t>(idle))
                                     : kRoundTripMs;
      const auto arrived =
          std::partition(responses.begin(), responses.end(),
                         [this](const auto& response) { return response.first > now; });
      desktop.Tick(now);
      for (auto at = arrived; at != responses.end(); ++at) {
        desktop.HandleResponse(at->second);
      }
      responses.erase(arrived, responses.end());
    }
  }

  size_t SentSince(int64_t ms, std::optional<Kind> kind = std::nullopt) const {
    return static_cast<size_t>(std::ranges::count_if(
        sent, [&](const auto& one) { return one.first >= ms && (!kind || one.second == *kind); }));
  }

  std::mt19937_64 engine{1};
  Relay relay;
  Desktop desktop;
  int64_t now = 0;
  std::vector<std::pair<int64_t, Response>> responses;
  std::vector<std::pair<int64_t, Kind>> sent;
};

// Answers as a relay does that works and has nothing to send.
std::optional<Response> Serve(const Request& request) {
  switch (KindOf(request)) {
    case Kind::kJoin:
      return Response{0, 201, JoinText()};
    case Kind::kLook:
      return Response{0, 200, NeighboursText()};
    case Kind::kCrossing:
      return Response{0, 202, R"({"to":null})"};
    case Kind::kUpload:
      return Response{0, 201};
    case Kind::kFetch:
      return Response{0, 404};
    default:
      return std::nullopt;
  }
}

TEST_CASE(
    "refusals › every problem code, to every request, is followed by longer and longer pauses") {
  for (const rules::Problem& problem : rules::kProblems) {
    for (const Kind refused : kKinds) {
      for (const char* beside : {"", kInvitation}) {
        CAPTURE(problem.code);
        CAPTURE(static_cast<int>(refused));
        CAPTURE(beside);
        Play play(
            [&](const Request& request) {
              return KindOf(request) == refused
                         ? std::optional(Response{0, problem.status, Refusal(problem)})
                         : Serve(request);
            },
            beside);
        play.Pass(1'000);
        if (!play.desktop.simulation().sprites().empty()) {
          play.desktop.sprites().ThrowTo(play.desktop.simulation().sprites()[0].id, Edge::kRight);
        }
        play.Pass(299'000);
        // By then the pause is the longest: there is at most one refusal in half of it.
        const int64_t half = 150'000;
        const bool is_own_doing = refused == Kind::kUpload || refused == Kind::kFetch;
        const auto expected = static_cast<size_t>(half / (kBackoffMsMax / 2) + 1);
        CHECK(play.SentSince(half, refused) <= expected);
        CHECK(play.SentSince(half) <= 4 * expected);
        CHECK((is_own_doing || play.SentSince(0, refused) > 0));
      }
    }
  }
}

TEST_CASE("refusals › a relay that answers anything, at once, gets one request a second at most") {
  for (const uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    std::mt19937_64 engine(seed);
    int seq = 0;
    const auto anything = [&](const Request& request) -> std::optional<Response> {
      const size_t dice = engine() % (2 * rules::kProblems.size());
      if (dice < rules::kProblems.size() && seed % 2 == 1) {
        return Response{0, rules::kProblems[dice].status, Refusal(rules::kProblems[dice])};
      }
      if (KindOf(request) != Kind::kPoll) {
        return Serve(request);
      }
      Json events = Json::array();
      for (int i = 0; i < 20; i++) {
        std::string file(64, '0');
        const std::string number = std::to_string(++seq);
        file.replace(0, number.size(), number);
        events.push_back({{"type", "sprite"},
                          {"seq", seq},
                          {"from", {{"desktop", "9-3e"}, {"name", i % 2 ? "Mallory" : "Bob"}}},
                          {"edge", "left"},
                          {"at", 0.5},
                          {"vx", 300},
                          {"vy", 0},
                          {"sprite", {{"file", file}, {"name", "X"}, {"scale", 2}}}});
        events.push_back({{"type", "removed"}, {"file", file}});
      }
      events.push_back({{"type", "bye"}, {"retryAfterMs", 1}});
      return Response{
          0, 200, WriteJson({{"cursor", "6a1f03c2-" + std::to_string(seq)}, {"events", events}})};
    };
    Play play(anything);
    play.Pass(1'200'000);
    CHECK(play.SentSince(0) <= 1'200 + kRequestBurst);
    CHECK(play.SentSince(600'000) <= 600 + kRequestBurst);
    CHECK(play.SentSince(600'000, Kind::kPoll) > 0);
  }
}

TEST_CASE("refusals › a friend who is gone is asked for once, and the desktop joins without them") {
  std::vector<std::string> bodies;
  Play play(
      [&](const Request& request) -> std::optional<Response> {
        if (KindOf(request) == Kind::kJoin) {
          bodies.push_back(request.body);
          if (Json::parse(request.body).contains("near")) {
            return Response{0, 409, R"({"code":"near-gone","title":"Gone."})"};
          }
        }
        return Serve(request);
      },
      kInvitation);
  play.Pass(60'000);
  CHECK(play.desktop.relay().link() == Link::kConnected);
  REQUIRE(bodies.size() == 2);
  CHECK(Json::parse(bodies[0])["near"] == kInvitation);
  CHECK(!Json::parse(bodies[1]).contains("near"));
  CHECK(play.desktop.settings().beside.empty());  // so the next start does not ask for it
}

TEST_CASE("refusals › an invitation that has ended leads to the world it once led to") {
  bool is_gone = false;
  std::vector<std::string> bodies;
  const auto relay = [&](const Request& request) -> std::optional<Response> {
    if (KindOf(request) == Kind::kJoin) {
      bodies.push_back(request.body);
      if (is_gone && Json::parse(request.body).contains("near")) {
        return Response{0, 409, R"({"code":"near-gone","title":"Gone."})"};
      }
    }
    return Serve(request);
  };
  Play before(relay, kInvitation);
  std::string saved;
  before.desktop.Tick(0);
  for (const Request& request : before.desktop.PopOutbox().requests) {
    Response response = *Serve(request);
    response.id = request.id;
    before.desktop.HandleResponse(response);
  }
  before.desktop.Leave();
  saved = before.desktop.PopOutbox().saved_state;

  is_gone = true;
  Play after(relay, kInvitation);
  after.desktop.Restore(saved, false);
  after.Pass(10'000);
  REQUIRE(!bodies.empty());
  CHECK(Json::parse(bodies.back())["world"] == "ours");
  CHECK(after.desktop.relay().link() == Link::kConnected);
}

}  // namespace
}  // namespace sprites
