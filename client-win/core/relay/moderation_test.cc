#include "core/relay/moderation.h"

#include <doctest/doctest.h>

#include "core/text/json.h"
#include "test/core/test_relay.h"

namespace sprites {
namespace {

struct ModerationFixture {
  ModerationFixture() { seat.desktop = "1-1"; }

  std::vector<Request> Due(const std::vector<Neighbour>& muted) {
    std::vector<Request> requests;
    for (const auto& asked : moderation.DueMutes(seat.desktop, neighbours, muted, 0, &budget)) {
      requests.push_back(RequestOf(asked, kRelay, seat));
    }
    return requests;
  }
  std::optional<Request> Report(const PictureReport& report) {
    return AskedAt(kRelay, seat, moderation.ReportPicture(report));
  }

  Seat seat;
  Neighbours neighbours{
      {{"9-1", "Bob"}, {"9-2", "Mallory"}, {"9-2", "Mallory"}, {"1-1", "Mallory"}}};
  Moderation moderation;
  RequestBudget budget;
};

TEST_CASE("moderation › mutes a neighbour at the relay once, and unmutes it") {
  ModerationFixture fixture;
  CHECK(fixture.Due({}).empty());
  const auto mute = fixture.Due({{"9-2", "Mallory"}});
  REQUIRE(mute.size() == 1);  // Mallory is two neighbours, and the third is this desktop itself
  CHECK(mute[0].method == Method::kPost);
  CHECK(mute[0].url == "http://relay.example:8080/v1/desktops/1-1/mutes");
  CHECK(Json::parse(mute[0].body) == Json{{"desktop", "9-2"}});
  CHECK(fixture.Due({{"9-2", "Mallory"}}).empty());
  const auto unmute = fixture.Due({});
  REQUIRE(unmute.size() == 1);
  CHECK(unmute[0].method == Method::kDelete);
  CHECK(unmute[0].url.ends_with("/mutes/9-2"));
}

TEST_CASE("moderation › mutes again for a new seat") {
  ModerationFixture fixture;
  fixture.Due({{"9-1", "Bob"}});
  fixture.moderation.ForgetMutes();
  CHECK(fixture.Due({{"9-1", "Bob"}}).size() == 1);
}

TEST_CASE("moderation › asks the relay for as many mutes as it allows, and no more") {
  ModerationFixture fixture;
  size_t asked = 0;
  for (size_t i = 0; i < 2 * kMutesMax; i++) {
    fixture.neighbours[0].desktop = "8-" + std::to_string(i);
    asked += fixture.Due({{"", "Bob"}}).size();  // of a file of version 0.1
  }
  CHECK(asked == kMutesMax);
}

TEST_CASE("moderation › reports a picture and its thrower, with a reason within its limit") {
  ModerationFixture fixture;
  const std::string file(64, 'a');
  const auto report = fixture.Report({file, "9-1", std::string(300, 'x')});
  REQUIRE(report);
  CHECK(report->url == "http://relay.example:8080/v1/reports");
  CHECK(Json::parse(report->body)["file"] == file);
  CHECK(Json::parse(report->body)["desktop"] == "9-1");
  CHECK(Json::parse(report->body)["reason"].get<std::string>().size() == kReasonBytesMax);
  CHECK(fixture.moderation.HandleResponse({report->id, 204}).was_accepted);
}

TEST_CASE("moderation › has a limited number of reports under way") {
  ModerationFixture fixture;
  const auto send = [&] { return fixture.Report({std::string(64, 'a'), "", ""}); };
  for (size_t i = 0; i < kReportsUnderWayMax; i++) {
    const auto report = send();
    REQUIRE(report);
    CHECK(!Json::parse(report->body).contains("reason"));
    CHECK(!Json::parse(report->body).contains("desktop"));
  }
  CHECK(!send());
  const auto answer = fixture.moderation.HandleResponse({1, 429, R"({"code":"too-fast"})"});
  CHECK(!answer.was_accepted);
  CHECK(answer.problem.code == "too-fast");
  CHECK(send());
}

}  // namespace
}  // namespace sprites
