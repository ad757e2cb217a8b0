// Also plays relay.vectors.json; test/relay.test.ts plays it in the browser's.
#include "core/relay/sayings.h"

#include <doctest/doctest.h>

#include <limits>

#include "core/text/json.h"
#include "test/core/test_relay.h"

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
    return AskedAt(kRelay, SomeSeat(), sayings.DueRequest(now_ms, &budget));
  }
  std::optional<SayingVerdict> Respond(const Request& request, int status, const char* body,
                                       int64_t now_ms = 0) {
    return sayings.HandleResponse({request.id, status, body}, now_ms, kHalf);
  }

  Sayings sayings;
  RequestBudget budget;
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
  const auto verdict = speaker.Respond(*request, 202, R"({"heard":4})");
  REQUIRE(verdict);
  CHECK(verdict->accepted);
  CHECK(verdict->heard == 4);
  CHECK(verdict->text == "Whose cat is that?");
  CHECK(!speaker.sayings.pending());
  speaker.sayings.Add("Mine.");
  CHECK(Json::parse(speaker.Due(0)->body)["saying"] == 2);
}

TEST_CASE("sayings › are repeated under the same number, and come back, as in the vectors") {
  for (const Json& one : RelayVectors()["sayings"]) {
    CAPTURE(one["name"].get<std::string>());
    Speaker speaker;
    int64_t now = 0;
    speaker.sayings.Add("Hello");
    const size_t last = one["answers"].size() - 1;
    for (size_t i = 0; i <= last; i++) {
      CAPTURE(i);
      CHECK(!speaker.Due(now - 1));
      const auto request = speaker.Due(now);
      REQUIRE(request);
      CHECK(Json::parse(request->body) == Json{{"saying", 1}, {"text", "Hello"}});
      const auto verdict =
          speaker.sayings.HandleResponse(ResponseOf(one["answers"][i], request->id), now, kHalf);
      REQUIRE(verdict.has_value() == (i == last));
      CHECK(speaker.sayings.pending().has_value() == (i < last));
      if (verdict) {
        CHECK(verdict->text == "Hello");
        CHECK(one["outcome"] == (verdict->accepted ? "accepted" : verdict->problem.code));
        CHECK(one.value("heard", Json()) == (verdict->heard ? Json(*verdict->heard) : Json()));
        CHECK(speaker.sayings.next_number() == 2);
      } else {
        now += one["waitsMs"][i].get<int64_t>();
        CHECK(speaker.sayings.NextDueMs() == now);
      }
    }
  }
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
