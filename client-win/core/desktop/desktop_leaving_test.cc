// What becomes of thrown and arrived sprites when the seat ends: none is lost, and none is there
// twice. The relay that the test plays answers as server/PROTOCOL.md says.
#include <doctest/doctest.h>

#include <string>

#include "test/core/test_desktop.h"

namespace sprites {
namespace {

const Json kEnded = {{"code", "desktop-ended"}, {"cursor", "6a1f03c2-0"}};
const Json kForgotten = {{"code", "desktop-ended"}};
const Json kUnknown = {{"code", "unknown-desktop"}};
const Json kAccepted = {{"to", nullptr}};
const std::string kThrownFile(64, 'b');

// Throws a sprite of the shelf, and returns the request of its crossing.
Request Throw(TestDesktop* fixture) {
  const std::string& file = fixture->sheet->file;
  fixture->desktop.sprites().ThrowTo(fixture->desktop.sprites().DropIn(file, Point{400, 560}),
                                     Edge::kRight);
  for (int i = 0; i < 300; i++) {
    if (const auto upload = fixture->Find("/v1/sprites/" + file, Method::kPut)) {
      fixture->Respond(*upload, 204);
    }
    if (auto crossing = fixture->Find("/crossings", Method::kPost)) {
      return *crossing;
    }
    fixture->Pass(10);
  }
  FAIL("no crossing");
  return {};
}

size_t Here(const TestDesktop& fixture) { return fixture.desktop.simulation().sprites().size(); }

void CheckIsRepeat(const Request& again, const Request& first) {
  CHECK(again.url == first.url);
  CHECK(again.token == first.token);
  CHECK(again.body == first.body);
}

// A desktop whose throw was accepted by the relay, but the 202 was lost, and then the lease ended.
struct Doubtful : TestDesktop {
  Doubtful() {
    Join();
    first = Throw(this);
    Respond(first, 0);
    EndSeat();
  }

  Request first;
};

TEST_CASE(
    "leaving › a throw whose 202 was lost is repeated at the seat that sent it, once it ended") {
  Doubtful fixture;
  const Request again = fixture.Pop("/crossings", Method::kPost);
  CheckIsRepeat(again, fixture.first);
  fixture.Respond(again, 202, kAccepted);
  fixture.Join("2-2");
  fixture.Pass(20'000);
  CHECK(!fixture.Find("/crossings", Method::kPost));
  CHECK(Here(fixture) == 0);
}

TEST_CASE("leaving › a new seat never repeats what another one has sent, whichever is first") {
  Doubtful fixture;
  fixture.Join("2-2");
  const Request again = fixture.Pop("/crossings", Method::kPost);
  CheckIsRepeat(again, fixture.first);
  fixture.Respond(again, 0);
  CheckIsRepeat(fixture.Pop("/crossings", Method::kPost), fixture.first);
  const Request next = Throw(&fixture);
  CHECK(next.url.ends_with("/2-2/crossings"));
  CHECK(Json::parse(next.body)["crossing"] == 2);
}

TEST_CASE("leaving › a throw that the relay never had bounces back when its seat has ended") {
  for (const auto& answer :
       {std::pair{410, kEnded}, std::pair{410, kForgotten}, std::pair{401, kUnknown}}) {
    CAPTURE(answer.second);
    Doubtful fixture;
    fixture.Respond(fixture.Pop("/crossings", Method::kPost), answer.first, answer.second);
    CHECK(Here(fixture) == 1);
    fixture.Join("2-2");
    fixture.Pass(20'000);
    CHECK(!fixture.Find("/crossings", Method::kPost));
    CHECK(Here(fixture) == 1);
  }
}

TEST_CASE("leaving › a throw is asked about at its seat after a restart later than a lease") {
  TestDesktop before;
  before.Join();
  const Request first = Throw(&before);
  TestDesktop after(TestDesktop::Given(), before.saved_before_request);
  after.Respond(after.Pop("/v1/desktops/1-1", Method::kGet), 410, kEnded);
  const Request again = after.Pop("/crossings", Method::kPost);
  CheckIsRepeat(again, first);
  after.Respond(again, 202, kAccepted);
  after.Join("2-2");
  after.Pass(20'000);
  CHECK(!after.Find("/crossings", Method::kPost));
  CHECK(Here(after) == 0);
}

TEST_CASE("leaving › a throw without a verdict goes with the user to another world or relay") {
  for (const bool other_relay : {false, true}) {
    TestDesktop fixture;
    fixture.Join();
    const Request first = Throw(&fixture);
    Settings settings = TestDesktop::Given();
    (other_relay ? settings.relay : settings.world) = other_relay ? "http://other.example" : "ours";
    fixture.desktop.SetSettings(settings);
    fixture.Pop("/v1/desktops/1-1", Method::kDelete);
    fixture.Respond(first, 0);
    const Request again = fixture.Pop("/crossings", Method::kPost);
    CheckIsRepeat(again, first);
    fixture.Respond(again, 202, kAccepted);
    CHECK(fixture.desktop.traffic().on_the_way() == 0);
    CHECK(Here(fixture) == 0);
  }
}

TEST_CASE("leaving › the program waits for the verdict before it gives up the seat") {
  for (const bool is_accepted : {true, false}) {
    TestDesktop fixture;
    fixture.Join();
    fixture.PopPoll();
    const Request first = Throw(&fixture);
    fixture.desktop.Leave();
    fixture.Pass(kVerdictsMsMax - 10);
    CHECK(!fixture.Find("/v1/desktops/1-1", Method::kDelete));
    fixture.Respond(first, is_accepted ? 202 : 503,
                    is_accepted ? kAccepted : Json{{"code", "mailbox-full"}});
    fixture.Pass(10);
    CHECK(fixture.Find("/v1/desktops/1-1", Method::kDelete));
    const Json saved = Json::parse(fixture.saved);
    CHECK(saved["leaving"].empty());
    CHECK(saved["sprites"].size() == (is_accepted ? 0 : 1));
  }
}

TEST_CASE(
    "leaving › a throw is repeated while the program ends, and asked about at the next start") {
  TestDesktop fixture;
  fixture.Join();
  const Request first = Throw(&fixture);
  fixture.desktop.Leave();
  fixture.Respond(first, 0);
  CheckIsRepeat(fixture.Pop("/crossings", Method::kPost), first);
  CHECK(!fixture.desktop.HasLeft());
  fixture.Pass(kVerdictsMsMax);
  CHECK(fixture.Find("/v1/desktops/1-1", Method::kDelete));
  CHECK(!fixture.desktop.HasLeft());
  fixture.Pass(kFarewellMsMax);
  CHECK(fixture.desktop.HasLeft());
  CHECK(Json::parse(fixture.saved)["sprites"].empty());

  // The settings have changed meanwhile, so the old seat is of no other use.
  Settings settings = TestDesktop::Given();
  settings.relay = "http://other.example";
  TestDesktop again(settings, fixture.saved);
  CHECK(again.desktop.traffic().on_the_way() == 1);
  const Request question = again.Pop("/crossings", Method::kPost);
  CheckIsRepeat(question, first);
  again.Respond(question, 202, kAccepted);
  again.Pass(100);
  CHECK(Json::parse(again.saved)["leaving"].empty());
  CHECK(Here(again) == 0);
}

// A desktop whose program ends while it joins. It has waited for the relay almost long enough.
struct LeavingEarly : TestDesktop {
  LeavingEarly() {
    Pass(10);
    CHECK(Has("/v1/desktops", Method::kPost));
    desktop.Leave();
    Pass(kVerdictsMsMax - 10);
    CHECK(!desktop.HasLeft());
  }
};

TEST_CASE("leaving › a seat that the relay is about to grant is given up too") {
  LeavingEarly fixture;
  fixture.Grant();
  fixture.Respond(fixture.Pop("/v1/desktops/1-1", Method::kDelete), 204);
  fixture.Pass(10);
  CHECK(fixture.desktop.HasLeft());
}

TEST_CASE("leaving › a relay that does not answer a join is waited for so long, and not longer") {
  LeavingEarly fixture;
  fixture.Pass(20);
  CHECK(fixture.desktop.HasLeft());
}

TEST_CASE("leaving › nothing that arrives while the program ends is let in, or acknowledged") {
  TestDesktop fixture;
  fixture.Join();
  const Request first = Throw(&fixture);
  const Request poll = fixture.PopPoll();
  fixture.desktop.Leave();
  fixture.Respond(poll, 200, {{"cursor", "6a1f03c2-1"}, {"events", {Arriving(1, kThrownFile)}}});
  fixture.Respond(first, 202, kAccepted);
  fixture.Pass(10);
  fixture.Respond(fixture.Pop("/v1/desktops/1-1", Method::kDelete), 204);
  fixture.Pass(10);
  CHECK(fixture.desktop.HasLeft());
  CHECK(!Json::parse(fixture.saved).contains("seat"));
  CHECK(Json::parse(fixture.saved)["sprites"].empty());
  CHECK(!fixture.Find("events?cursor=6a1f03c2-1", Method::kGet));
}

TEST_CASE("leaving › what has just arrived is acknowledged before the seat is given up") {
  for (const bool was_in_time : {true, false}) {
    TestDesktop fixture;
    fixture.Join();
    fixture.Receive({Arriving(1, kThrownFile), Arriving(2, kThrownFile)});
    fixture.desktop.Leave();
    fixture.Pass(10);
    const auto poll = fixture.Find("events?cursor=6a1f03c2-1", Method::kGet);
    const auto leave = fixture.Find("/v1/desktops/1-1", Method::kDelete);
    REQUIRE(poll);
    REQUIRE(leave);
    fixture.Respond(*leave, 204);
    fixture.Pass(10);
    CHECK(!fixture.desktop.HasLeft());
    // The two requests take different ways.
    fixture.Respond(
        *poll, 410,
        {{"code", "desktop-ended"}, {"cursor", was_in_time ? "6a1f03c2-2" : "6a1f03c2-0"}});
    fixture.Pass(10);
    CHECK(fixture.desktop.HasLeft());
    CHECK(Json::parse(fixture.saved)["sprites"].size() == (was_in_time ? 2 : 0));
  }
}

TEST_CASE("leaving › what was never acknowledged goes on to others when the user goes elsewhere") {
  TestDesktop fixture;
  fixture.Join();
  fixture.Receive({Arriving(1, kThrownFile)});
  CHECK(Here(fixture) == 1);
  Settings settings = TestDesktop::Given();
  settings.world = "ours";
  fixture.desktop.SetSettings(settings);
  CHECK(Here(fixture) == 0);
}

// A desktop with one arrival, whose poll after it got no answer.
struct Unsure : TestDesktop {
  Unsure() {
    Join();
    Receive({Arriving(1, kThrownFile)});
    Pass(20);
    poll = PopPoll();
  }

  // The relay has ended the seat, and says whether it got that poll.
  static Json Ended(bool was_acknowledged) {
    return {{"code", "desktop-ended"}, {"cursor", was_acknowledged ? "6a1f03c2-1" : "6a1f03c2-0"}};
  }

  Request poll;
};

TEST_CASE("leaving › the program asks what was acknowledged when a poll got no answer") {
  for (const bool was_acknowledged : {true, false}) {
    Unsure fixture;
    fixture.Respond(fixture.poll, 0);
    fixture.desktop.Leave();
    fixture.Respond(fixture.Pop("/v1/desktops/1-1", Method::kDelete), 204);
    fixture.Pass(10);
    CHECK(!fixture.desktop.HasLeft());
    fixture.Respond(fixture.PopPoll(), 410, Unsure::Ended(was_acknowledged));
    fixture.Pass(10);
    CHECK(fixture.desktop.HasLeft());
    CHECK(!Json::parse(fixture.saved).contains("seat"));
    CHECK(Json::parse(fixture.saved)["sprites"].size() == (was_acknowledged ? 1 : 0));
  }
}

TEST_CASE("leaving › the seat is given up at once when the relay answers the repeated poll") {
  Unsure fixture;
  fixture.Respond(fixture.poll, 0);
  fixture.desktop.Leave();
  fixture.Pass(10);
  fixture.Respond(fixture.PopPoll(), 200,
                  {{"cursor", "6a1f03c2-2"},
                   {"events", {Arriving(2, kThrownFile)}}});  // acknowledges the first
  fixture.Respond(fixture.Pop("/v1/desktops/1-1", Method::kDelete), 204);
  fixture.Pass(10);
  CHECK(fixture.desktop.HasLeft());
  CHECK(!Json::parse(fixture.saved).contains("seat"));
  CHECK(Json::parse(fixture.saved)["sprites"].size() == 1);
}

TEST_CASE("leaving › the next start asks what was acknowledged when the relay does not say") {
  for (const bool was_acknowledged : {true, false}) {
    Unsure fixture;
    fixture.Respond(fixture.poll, 0);
    fixture.desktop.Leave();
    fixture.Pass(10);
    fixture.Respond(fixture.PopPoll(), 0);
    fixture.Respond(fixture.Pop("/v1/desktops/1-1", Method::kDelete), 204);
    fixture.Pass(10);
    fixture.Respond(fixture.PopPoll(), 0);
    fixture.Pass(kFarewellMsMax);
    CHECK(fixture.desktop.HasLeft());
    TestDesktop after(TestDesktop::Given(), fixture.saved);
    CHECK(Here(after) == 1);
    after.Respond(after.Pop("/v1/desktops/1-1", Method::kGet), 410,
                  Unsure::Ended(was_acknowledged));
    CHECK(Here(after) == (was_acknowledged ? 1 : 0));
  }
}

TEST_CASE("leaving › a user who goes elsewhere keeps what the relay says was acknowledged") {
  Settings settings = TestDesktop::Given();
  settings.world = "ours";
  for (const bool is_held : {true, false}) {
    for (const bool was_acknowledged : {true, false}) {
      CAPTURE(is_held);
      Unsure fixture;
      if (!is_held) {
        fixture.Respond(fixture.poll, 0);
      }
      fixture.desktop.SetSettings(settings);
      CHECK(fixture.desktop.relay().link() == Link::kJoining);
      fixture.Respond(fixture.Pop("/v1/desktops/1-1", Method::kDelete), 204);
      fixture.Pass(10);
      CHECK(!fixture.Find("/v1/desktops", Method::kPost));
      fixture.Respond(is_held ? fixture.poll : fixture.PopPoll(), 410,
                      Unsure::Ended(was_acknowledged));
      CHECK(Here(fixture) == (was_acknowledged ? 1 : 0));
      fixture.Join("2-2");
      CHECK(Here(fixture) == (was_acknowledged ? 1 : 0));
    }
  }
}

TEST_CASE("leaving › a user who goes elsewhere waits so long for the relay, and not longer") {
  Settings settings = TestDesktop::Given();
  settings.relay = "http://other.example";
  Unsure fixture;
  fixture.desktop.SetSettings(settings);
  fixture.Pass(kFarewellMsMax - 10);
  CHECK(!fixture.Find("/v1/desktops", Method::kPost));
  fixture.Pass(20);
  CHECK(fixture.Find("/v1/desktops", Method::kPost));
  CHECK(Here(fixture) == 1);
}

TEST_CASE("leaving › a user who goes elsewhere and ends the program leaves no sprite twice") {
  Settings settings = TestDesktop::Given();
  settings.world = "ours";
  Unsure fixture;
  fixture.desktop.SetSettings(settings);
  fixture.desktop.Leave();
  fixture.Respond(fixture.Pop("/v1/desktops/1-1", Method::kDelete), 204);
  fixture.Pass(10);
  CHECK(!fixture.desktop.HasLeft());
  fixture.Respond(fixture.poll, 410, Unsure::Ended(false));
  fixture.Pass(10);
  CHECK(fixture.desktop.HasLeft());
  CHECK(Json::parse(fixture.saved)["sprites"].empty());
}

TEST_CASE("leaving › a desktop that has ended keeps what the relay says it acknowledged") {
  struct Case {
    const char* cursor;
    size_t kept;
  };
  // Two polls with the cursor of the last batch were lost: only the relay knows whether one
  // arrived.
  for (const Case& one : {Case{"6a1f03c2-3", 3}, Case{"6a1f03c2-2", 2}, Case{"6a1f03c2-1", 1},
                          Case{"6a1f03c2-0", 1}, Case{"77777777-1", 3}, Case{"", 3}}) {
    CAPTURE(one.cursor);
    TestDesktop fixture;
    fixture.Join();
    fixture.Receive({Arriving(1, kThrownFile)});
    fixture.Pass(20);
    const Request poll = fixture.PopPoll();
    fixture.seq = 3;
    fixture.Respond(poll, 200,
                    {{"cursor", fixture.Cursor()},
                     {"events", {Arriving(2, kThrownFile), Arriving(3, kThrownFile)}}});
    fixture.Respond(fixture.PopPoll(), 0);
    fixture.Respond(fixture.Pop("/v1/desktops/1-1", Method::kGet), 410,
                    {{"code", "desktop-ended"}, {"cursor", one.cursor}});
    CHECK(Here(fixture) == one.kept);
  }
}

TEST_CASE("leaving › a restarted program gives up the sprites that the relay has passed on") {
  for (const bool was_acknowledged : {true, false}) {
    Settings settings = TestDesktop::Given();
    settings.sprite_limit = 2;
    TestDesktop before(settings);
    before.Join();
    before.Receive({Arriving(1, kThrownFile)});
    before.Pass(20);
    const Request poll = before.PopPoll();
    before.seq = 3;
    before.Respond(poll, 200,
                   {{"cursor", before.Cursor()},
                    {"events", {Arriving(2, kThrownFile), Arriving(3, kThrownFile)}}});
    before.Pass(20);
    CHECK(before.desktop.traffic().waiting() == 1);

    TestDesktop after(settings, before.saved);
    CHECK(Here(after) == 2);
    CHECK(after.desktop.traffic().waiting() == 1);
    after.Respond(
        after.Pop("/v1/desktops/1-1", Method::kGet), 410,
        {{"code", "desktop-ended"}, {"cursor", was_acknowledged ? "6a1f03c2-3" : "6a1f03c2-1"}});
    CHECK(Here(after) == (was_acknowledged ? 2 : 1));
    CHECK(after.desktop.traffic().waiting() == (was_acknowledged ? 1 : 0));
  }
}

TEST_CASE("leaving › edges bounce while a number would be 32 above one without a verdict") {
  TestDesktop fixture;
  fixture.Join();
  const Request oldest = Throw(&fixture);
  for (int number = 2; number <= 32; number++) {
    const Request next = Throw(&fixture);
    CHECK(Json::parse(next.body)["crossing"] == number);
    if (number > 2) {
      fixture.Respond(next, 202, kAccepted);
    }
  }
  // 31 and 32 have left; 33 stays here.
  CHECK(fixture.desktop.traffic().on_the_way() == 2);
  const auto try_to_throw = [&] {
    fixture.desktop.sprites().ThrowTo(
        fixture.desktop.sprites().DropIn(fixture.sheet->file, Point{400, 560}), Edge::kRight);
    fixture.Pass(2'000);
  };
  try_to_throw();
  CHECK(!fixture.Find("/crossings", Method::kPost));
  CHECK(Here(fixture) == 1);
  fixture.Respond(oldest, 202, kAccepted);
  try_to_throw();
  const auto next = fixture.Find("/crossings", Method::kPost);
  REQUIRE(next);
  CHECK(Json::parse(next->body)["crossing"] == 33);
}

TEST_CASE("leaving › a throw from an older program comes back when nobody can be asked about it") {
  TestDesktop before;
  before.Join();
  Throw(&before);
  Json saved = Json::parse(before.saved);
  saved["leaving"][0].erase("seat");
  TestDesktop same(TestDesktop::Given(), WriteJson(saved));
  CHECK(same.desktop.traffic().on_the_way() == 1);  // the seat in the file has sent it
  saved.erase("seat");
  TestDesktop none(TestDesktop::Given(), WriteJson(saved));
  CHECK(none.desktop.traffic().on_the_way() == 0);
  CHECK(Here(none) == 1);
}

}  // namespace
}  // namespace sprites
