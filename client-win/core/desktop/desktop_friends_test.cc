// Sprites that are thrown to somebody who may be several desktops away; the rules of the way are
// tested in core/relay/crossings/goal_test.cc.
#include <doctest/doctest.h>

#include <string>

#include "core/words/menus.h"
#include "test/core/test_desktop.h"

namespace sprites {
namespace {

// A picture that only the relay has.
const std::string kStranger(64, 'a');

Json GoalTo(const std::string& name, int column, int row) {
  return {{"name", name}, {"column", column}, {"row", row}};
}

Json Passing(int seq, const Json& goal) {
  Json event = Arriving(seq, kStranger);
  event["goal"] = goal;
  return event;
}

size_t Shown(const TestDesktop& fixture) { return fixture.desktop.simulation().sprites().size(); }

TEST_CASE("friends › a sprite that passes is seen for a second, and goes on with the rest") {
  TestDesktop fixture;
  fixture.Join();
  fixture.Receive({Passing(1, GoalTo("Zoe", 2, 1))});
  fixture.Pass(kGuestPassingMs - 100);
  CHECK(Shown(fixture) == 1);
  CHECK(!fixture.Has("/crossings", Method::kPost));
  const Json crossing = Json::parse(fixture.Pop("/crossings", Method::kPost).body);
  CHECK(crossing["edge"] == "right");
  CHECK(crossing["goal"] == GoalTo("Zoe", 1, 1));
  CHECK(Shown(fixture) == 0);
  CHECK(fixture.toasts.empty());
}

TEST_CASE("friends › who hides the stage does not see it, and it goes on at once") {
  TestDesktop fixture;
  fixture.Join("1-1", {{"stage", false}});
  fixture.Receive({Passing(1, GoalTo("Zoe", 0, -2))});
  CHECK(Shown(fixture) == 0);
  const Request request = fixture.Pop("/crossings", Method::kPost);
  CHECK(Json::parse(request.body)["edge"] == "top");
  CHECK(Json::parse(request.body)["goal"] == GoalTo("Zoe", 0, -1));
  fixture.Respond(request, 503, {{"code", "mailbox-full"}});
  fixture.Pass(5'000);
  CHECK(Shown(fixture) == 1);  // it stays here, and is seen now
  CHECK(!fixture.Has("/crossings", Method::kPost));
}

TEST_CASE("friends › one that is refused, or taken up, stays") {
  TestDesktop fixture;
  fixture.Join();
  fixture.Receive({Passing(1, GoalTo("Bob", 1, 0))});
  const Request request = fixture.Pop("/crossings", Method::kPost);
  CHECK(Json::parse(request.body)["goal"] == GoalTo("Bob", 0, 0));
  fixture.Respond(request, 503, {{"code", "mailbox-full"}});
  fixture.Pass(10'000);
  CHECK(Shown(fixture) == 1);
  CHECK(!fixture.Has("/crossings", Method::kPost));

  fixture.Receive({Passing(2, GoalTo("Bob", 1, 0))});
  const SpriteId second = fixture.desktop.simulation().sprites().back().id;
  fixture.desktop.sprites().Grab(second, {400, 300}, 0);
  fixture.Pass(500);
  fixture.desktop.sprites().Release(500);
  fixture.Pass(10'000);
  CHECK(Shown(fixture) == 2);
}

TEST_CASE("friends › one whose friend has left stays") {
  TestDesktop fixture;
  fixture.Join();
  fixture.Receive({Passing(1, GoalTo("Zoe", 1, 0))});
  fixture.Pass(10'000);
  CHECK(Shown(fixture) == 1);
  CHECK(!fixture.Has("/crossings", Method::kPost));
}

TEST_CASE("friends › the menu of a sprite has those who are farther away, and throws it there") {
  TestDesktop fixture;
  fixture.Join();
  CHECK(!fixture.Has("/company", Method::kGet));
  fixture.Receive({Json{{"type", "company"}}});
  const Json company = {{"name", "Bob"}, {"column", 1}, {"row", 0}};
  fixture.Respond(
      fixture.Pop("/company", Method::kGet), 200,
      {{"desktops", 4}, {"company", {company, GoalTo("R&D", 1, 1), 7, GoalTo("", 1, 1)}}});
  const SpriteId own = fixture.DropInOwn();
  const Menu menu = SpriteMenu(fixture.desktop, *fixture.desktop.simulation().Find(own));
  const Menu& throws = menu[2].children;
  REQUIRE(throws.size() == 8);
  CHECK(throws[4].IsLine());
  CHECK(throws[5].text == "R&&D");
  CHECK(throws[5].choice.command == MenuCommand::kThrowToFriend);

  fixture.desktop.ThrowToFriend(own, throws[5].choice.neighbour.name);
  fixture.Respond(fixture.Pop("/v1/sprites/" + fixture.sheet->file, Method::kPut), 201);
  const Request request = fixture.Pop("/crossings", Method::kPost);
  CHECK(Json::parse(request.body)["edge"] == "right");
  CHECK(Json::parse(request.body)["goal"] == GoalTo("R&D", 0, 1));
  fixture.Respond(request, 202, {{"to", kBob}});
  const Scene& scene = fixture.Pass(100);
  REQUIRE(!scene.bubbles.empty());
  CHECK(scene.bubbles[0].text == fixture.sheet->description.name + " is on its way to R&D.");

  fixture.desktop.ThrowToFriend(own, "Zoe");
  fixture.Pass(100);
  REQUIRE(!fixture.toasts.empty());
  CHECK(fixture.toasts.back().title == "Zoe is not here any more");
}

TEST_CASE(
    "journeys › a guest tells its own where the pointer rests, and travels on with one more") {
  constexpr int64_t kNow = 1'795'604'400;
  TestDesktop fixture;
  fixture.Join();
  fixture.desktop.sprites().SetClock({kNow, kNow});
  Json event = Arriving(1, kStranger);
  Json journey = {{"hops", 2}, {"since", kNow}, {"by", "Zoe"}, {"from", {"Ada", "Bob"}}};
  event["sprite"]["journey"] = journey;
  fixture.Receive({event});
  fixture.Pass(3'000);
  const Sprite& guest = fixture.desktop.simulation().sprites().front();
  fixture.desktop.sprites().MovePointer({guest.x, guest.y - 5});
  const Scene& scene = fixture.Pass(600);
  REQUIRE(!scene.bubbles.empty());
  CHECK(scene.bubbles[0].text ==
        "Guest, drawn by Zoe, 2 desktops since today; from Ada by way of Bob");
  const Menu menu = SpriteMenu(fixture.desktop, guest);
  CHECK(menu[0].text == "Guest, 2 desktops since today; from Ada by way of Bob");
  CHECK(Json::parse(fixture.saved)["sprites"][0]["journey"] == journey);

  fixture.desktop.sprites().ThrowTo(guest.id, Edge::kRight);
  journey["hops"] = 3;
  const Request request = fixture.Pop("/crossings", Method::kPost);
  CHECK(Json::parse(request.body)["sprite"]["journey"] == journey);
  CHECK(Json::parse(fixture.saved_before_request)["leaving"][0]["travelled"] == journey);
  fixture.Respond(request, 503, {{"code", "mailbox-full"}});
  CHECK(fixture.desktop.simulation().sprites().front().journey.hops == 2);  // it was nowhere else
}

}  // namespace
}  // namespace sprites
