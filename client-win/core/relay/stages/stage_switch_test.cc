#include "core/relay/stages/stage_switch.h"

#include <doctest/doctest.h>

#include "core/relay/backoff.h"
#include "core/text/json.h"
#include "test/core/test_relay.h"

namespace sprites {
namespace {

struct Chooser {
  std::optional<Request> Due(std::optional<bool> wanted, int64_t now_ms = 0) {
    return AskedAt("http://relay.example", seat,
                   choice.DueRequest(seat.stage, wanted, now_ms, &budget));
  }
  std::optional<bool> Respond(const Request& request, int status) {
    return choice.HandleResponse({request.id, status}, 0, [] { return 0.5; });
  }

  StageSwitch choice;
  Seat seat{.desktop = "1-1", .token = "1-1.00", .stage = false};
  RequestBudget budget;
};

TEST_CASE("stage switch › tells the relay what was chosen, once") {
  Chooser chooser;
  const auto request = chooser.Due(true);
  REQUIRE(request);
  CHECK(request->method == Method::kPut);
  CHECK(request->url == "http://relay.example/v1/desktops/1-1/stage");
  CHECK(request->token == "1-1.00");
  CHECK(request->body == R"({"stage":true})");
  CHECK(!chooser.Due(true, 60'000));  // one at a time
  CHECK(chooser.Respond(*request, 204) == true);
  chooser.seat.stage = true;
  CHECK(!chooser.Due(true));
  CHECK(chooser.Due(false)->body == R"({"stage":false})");
}

TEST_CASE("stage switch › asks nothing when nothing is chosen, or the relay does not know stages") {
  Chooser chooser;
  CHECK(!chooser.Due(std::nullopt));
  CHECK(!chooser.Due(false));
  chooser.seat.stage.reset();
  CHECK(!chooser.Due(true));
}

TEST_CASE("stage switch › tries again after a while, and at once after another choice") {
  Chooser chooser;
  CHECK(!chooser.Respond(*chooser.Due(true), 0));
  CHECK(!chooser.Due(true, kBackoffMsFirst / 2));
  CHECK(!chooser.Respond(*chooser.Due(true, kBackoffMsFirst), 503));
  CHECK(!chooser.Due(true, 1));
  chooser.choice.AskNow();
  CHECK(chooser.Due(true, 1));
}

}  // namespace
}  // namespace sprites
