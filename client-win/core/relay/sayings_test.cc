#include "core/relay/sayings.h"

#include <doctest/doctest.h>

#include <limits>

#include "core/relay/test_relay.h"
#include "core/text/json.h"

namespace sprites {
namespace {

Seat SomeSeat() {
  Seat seat;
  seat.desktop = "1-1";
  seat.token = "1-1.00";
  return seat;
}

struct Speaker {
  std::optional<Request> Due(int64_t now_ms) {
    return sayings.DueRequest(kRelay, SomeSeat(), now_ms, &budget, &next);
  }
  std::optional<SayingVerdict> Respond(const Request& request, int status, const char* body,
                                       int64_t now_ms = 0) {
    return sayings.HandleResponse({request.id, status, body}, now_ms, kHalf);
  }

  Sayings sayings;
  RequestBudget budget;
  RequestId next = 1;
};

TEST_CASE("sayings › follow the protocol, one at a time") {
  Speaker speaker;
  CHECK(!speaker.Due(0));
  CHECK(speaker.sayings.NextDueMs() == std::numeric_limits<int64_t>::max());
  speaker.sayings.Add("Whose cat is that?");
  CHECK(speaker.sayings.NextDueMs() == 0);
  const auto request = speaker.Due(0);
  REQUIRE(request);
  CHECK(request->url == "http://relay.example:8080/v1/desktops/1-1/sayings");
  CHECK(request->method == Method::kPost);
  CHECK(request->token == "1-1.00");
  CHECK(request->content_type == "application/json");
  CHECK(Json::parse(request->body) == Json::parse(R"({"saying":1,"text":"Whose cat is that?"})"));
  CHECK(!speaker.Due(60'000));
  CHECK(!speaker.Respond({99}, 202, R"({"heard":4})"));
  const auto verdict = speaker.Respond(*request, 202, R"({"heard":4})");
  REQUIRE(verdict);
  CHECK(verdict->accepted);
  CHECK(verdict->heard == 4);
  CHECK(verdict->text == "Whose cat is that?");
  CHECK(!speaker.sayings.pending());
  speaker.sayings.Add("Mine.");
  CHECK(Json::parse(speaker.Due(0)->body)["saying"] == 2);
}

TEST_CASE("sayings › are repeated under the same number until the relay has decided") {
  Speaker speaker;
  speaker.sayings.Add("Hello");
  int64_t now = 0;
  for (const auto& [status, body] :
       {std::pair(0, ""), std::pair(502, "<html>"), std::pair(200, "<html>"),
        std::pair(202, "Accepted"), std::pair(500, R"({"code":"internal"})"),
        std::pair(410, R"({"code":"desktop-ended"})")}) {
    const int answered = status;  // clang captures no structured bindings
    CAPTURE(answered);
    const auto request = speaker.Due(now);
    REQUIRE(request);
    CHECK(Json::parse(request->body)["saying"] == 1);
    CHECK(!speaker.Respond(*request, status, body, now));
    CHECK(speaker.sayings.pending());
    CHECK(!speaker.Due(now));  // not at once
    now = speaker.sayings.NextDueMs();
  }
  const auto repeat = speaker.Due(now);
  const auto verdict = speaker.Respond(*repeat, 202, R"({"heard":null})");
  REQUIRE(verdict);
  CHECK(verdict->accepted);
  CHECK(!verdict->heard);
}

TEST_CASE("sayings › a repeat needs budget, the first try does not") {
  Speaker speaker;
  while (speaker.budget.Allows(0)) {
    speaker.budget.Spend(0);
  }
  speaker.sayings.Add("Hello");
  const auto request = speaker.Due(0);
  REQUIRE(request);
  speaker.Respond(*request, 0, "");
  const int64_t due = speaker.sayings.NextDueMs();
  CHECK(due < kRequestMs);
  CHECK(!speaker.Due(due));
  CHECK(speaker.Due(2 * kRequestMs));
}

TEST_CASE("sayings › a refused one comes back with its text, and its number is not used again") {
  Speaker speaker;
  for (const auto& [status, code] :
       {std::pair(429, "too-fast"), std::pair(403, "sayings-off"), std::pair(400, "malformed"),
        std::pair(503, "relay-busy"), std::pair(409, "saying-stale"), std::pair(503, "draining")}) {
    speaker.sayings.Add("Hello");
    const uint64_t number = speaker.sayings.pending()->number;
    const auto verdict = speaker.Respond(*speaker.Due(0), status,
                                         WriteJson({{"code", code}, {"title", code}}).c_str());
    REQUIRE(verdict);
    CHECK(!verdict->accepted);
    CHECK(verdict->text == "Hello");
    CHECK(verdict->problem.code == code);
    CHECK(speaker.sayings.next_number() == number + 1);
  }
}

TEST_CASE("sayings › go on after a restart under the number they had") {
  Speaker speaker;
  speaker.sayings.set_next_number(8);
  speaker.sayings.Restore({7, "Hello"});
  CHECK(Json::parse(speaker.Due(0)->body)["saying"] == 7);
  CHECK(speaker.sayings.next_number() == 8);
  const auto lost = speaker.sayings.GiveUp();
  REQUIRE(lost);
  CHECK(lost->text == "Hello");
  CHECK(!speaker.sayings.GiveUp());
  CHECK(!speaker.Respond({1}, 202, R"({"heard":4})"));  // too late
}

TEST_CASE("sayings › a text has no hidden characters, and no spaces around it") {
  CHECK(SayingText("  Good\n\tnight \u202e") == "Goodnight");
  CHECK(SayingText("a  b") == "a  b");
  CHECK(SayingText(" \n ") == "");
  CHECK(SayingText("") == "");
  for (const size_t bytes : {size_t{1}, kSayingBytesMax}) {
    CHECK(SayingText(std::string(bytes, 'x')).size() == bytes);
    CHECK(SayingJson(9007199254740991, std::string(bytes, '"')).size() <= kSayingBodyBytesMax);
  }
}

TEST_CASE("sayings › the length is shown once few bytes are left") {
  CHECK(SayingLength(kSayingBytesMax - kBytesLeftShown - 1).empty());
  CHECK(SayingLength(kSayingBytesMax - kBytesLeftShown) == "200 / 280");
  CHECK(SayingLength(kSayingBytesMax + 1) == "281 / 280");
}

}  // namespace
}  // namespace sprites
