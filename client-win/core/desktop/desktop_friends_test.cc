// Sprites that are thrown to somebody who may be several desktops away, and seats that are changed;
// the rules of the way are tested in core/relay/crossings/goal_test.cc.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "core/words/menus.h"
#include "test/core/test_desktop.h"

namespace sprites {
namespace {

// A picture that only the relay has.
const std::string kStranger(64, 'a');

constexpr int64_t kThursday = 1'795'676'400;  // 7:00 in Greenwich

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
  REQUIRE(throws.size() == 9);
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

// A desktop in a small private world, whose company is known.
struct SeatedDesktop : TestDesktop {
  SeatedDesktop() {
    Join();
    Receive({Json{{"type", "company"}}});
    Respond(Pop("/company", Method::kGet), 200,
            {{"desktops", 3}, {"company", {GoalTo("Zoe", 1, 1), GoalTo("Bob", 1, 0)}}});
  }
  Json Asked(int lease_ms) const {
    return {{"type", "swap"}, {"from", kBob}, {"leaseMs", lease_ms}};
  }
  // The entry of the menu with these words; null if there is none.
  static const MenuItem* Entry(const Menu& menu, const std::string& words) {
    const auto found = std::ranges::find(menu, words, &MenuItem::text);
    return found == menu.end() ? nullptr : &*found;
  }
};

TEST_CASE("seats › asks for a seat, and shows the answer") {
  struct Case {
    int status;
    Json body;
    std::string title;
  };
  for (const Case& one : {Case{202, {{"swap", "asked"}, {"leaseMs", 30'000}}, "Zoe was asked"},
                          Case{202, {{"swap", "done"}}, "You have changed seats"},
                          Case{409, {{"code", "swap-gone"}}, "Zoe does not sit there any more"},
                          Case{429, {{"code", "too-fast"}}, "You can't change seats right now"},
                          Case{0, nullptr, "You can't change seats right now"}}) {
    CAPTURE(one.title);
    SeatedDesktop fixture;
    fixture.desktop.AskForSeat("Zoe");
    fixture.desktop.AskForSeat("Zoe");  // one at a time
    const Request request = fixture.Pop("/swap", Method::kPost);
    CHECK(Json::parse(request.body) == GoalTo("Zoe", 1, 1));
    CHECK(!fixture.Has("/swap", Method::kPost));
    fixture.Respond(request, one.status, one.body);
    fixture.Pass(10);
    REQUIRE(fixture.toasts.size() == 1);
    CHECK(fixture.toasts[0].title == one.title);
    fixture.desktop.AskForSeat("Zoe");
    fixture.Pop("/swap", Method::kPost);
  }
  SeatedDesktop fixture;
  fixture.desktop.AskForSeat("Dan");
  fixture.Pass(10);
  CHECK(fixture.toasts.at(0).title == "Dan does not sit there any more");
}

TEST_CASE("seats › who asks is in a bubble and in the menu, and is answered there") {
  for (const bool is_accepted : {true, false}) {
    SeatedDesktop fixture;
    fixture.ReceiveMomentary({fixture.Asked(30'000)});
    const Scene& scene = fixture.Pass(100);
    REQUIRE(scene.bubbles.size() == 1);
    CHECK(scene.bubbles[0].text.starts_with("Bob would like to change seats with you."));
    const Menu menu = ProgramMenu(fixture.desktop);
    CHECK(fixture.Entry(menu, "Bob would like to change seats with you") != nullptr);
    const MenuItem* entry =
        fixture.Entry(menu, is_accepted ? "Change seats with Bob" : "Stay here");
    REQUIRE(entry != nullptr);
    CHECK(CarryOut(entry->choice, &fixture.desktop));
    const Request request = fixture.Pop("/swap", Method::kPut);
    CHECK(Json::parse(request.body) == Json{{"from", "9-3e"}, {"accept", is_accepted}});
    fixture.Respond(request, 204);
    fixture.Pass(10);
    CHECK(fixture.Entry(ProgramMenu(fixture.desktop), "Stay here") == nullptr);
    CHECK(fixture.toasts.empty());
    fixture.desktop.AnswerSeatAsker(true);
    fixture.Pass(10);
    CHECK(!fixture.Has("/swap", Method::kPut));  // nobody asks
  }
}

TEST_CASE("seats › a question ends by its time, by the relay's word, and by the end of the seat") {
  SeatedDesktop fixture;
  fixture.ReceiveMomentary({fixture.Asked(30'000)});
  fixture.Pass(29'000);
  CHECK(fixture.desktop.SeatAsker() != nullptr);
  fixture.Pass(1'100);
  CHECK(fixture.desktop.SeatAsker() == nullptr);
  fixture.ReceiveMomentary({fixture.Asked(30'000)});
  fixture.ReceiveMomentary({Json{{"type", "swap"}}});
  CHECK(fixture.desktop.SeatAsker() == nullptr);
  fixture.ReceiveMomentary({fixture.Asked(2'000'000'000)});
  fixture.Pass(kSwapLeaseMsMax);
  CHECK(fixture.desktop.SeatAsker() == nullptr);  // however long the relay says
  fixture.ReceiveMomentary({fixture.Asked(30'000)});
  fixture.EndSeat();
  fixture.Pass(10);
  CHECK(fixture.desktop.SeatAsker() == nullptr);
}

TEST_CASE("seats › shows no question of a muted desktop, and says when an answer came too late") {
  SeatedDesktop fixture;
  fixture.ReceiveMomentary({fixture.Asked(30'000)});
  fixture.desktop.AnswerSeatAsker(true);
  fixture.Respond(fixture.Pop("/swap", Method::kPut), 409, {{"code", "swap-gone"}});
  fixture.Pass(10);
  CHECK(fixture.toasts.at(0).title == "Bob does not ask any more");
  fixture.Pass(5'000);
  fixture.ReceiveMomentary({Json{{"type", "swap"}, {"with", kBob}}});
  fixture.Pass(10);
  CHECK(fixture.toasts.at(1).title == "You have changed seats");
  fixture.desktop.Mute({"9-3e", "Bob"}, true);
  fixture.ReceiveMomentary({fixture.Asked(30'000)});
  fixture.Pass(10);
  CHECK(fixture.desktop.SeatAsker() == nullptr);
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

// Throws an own sprite, whose journey begins, to the neighbour on the right.
SpriteId ThrowOwn(TestDesktop* fixture) {
  const SpriteId own = fixture->DropInOwn();
  fixture->desktop.sprites().ThrowTo(own, Edge::kRight);
  fixture->Respond(fixture->Pop("/v1/sprites/" + fixture->sheet->file, Method::kPut), 201);
  return own;
}

TEST_CASE("journeys › have the own name at their end, unless its user wants to be left out") {
  for (const bool signs : {true, false}) {
    Settings settings = TestDesktop::Given();
    settings.signs = signs;
    TestDesktop fixture(settings);
    fixture.Join("1-1", {{"name", "Ida"}});
    fixture.desktop.sprites().SetClock({kThursday, kThursday});
    ThrowOwn(&fixture);
    const Json body = Json::parse(fixture.Pop("/crossings", Method::kPost).body);
    const Json& journey = body["sprite"]["journey"];
    CHECK(journey["hops"] == 1);
    CHECK(journey["from"] == (signs ? Json::array({"Ida"}) : Json::array()));
  }
}

Json Home(const TestDesktop& fixture, int seq, int hops) {
  Json event = Arriving(seq, fixture.sheet->file);
  event["sprite"]["name"] = fixture.sheet->description.name;
  event["sprite"]["journey"] = {
      {"hops", hops}, {"since", kThursday}, {"by", ""}, {"from", {"Ada", "Bob"}}};
  return event;
}

std::vector<std::string> Away(const TestDesktop& fixture) {
  std::vector<std::string> lines;
  for (const MenuItem& item : ProgramMenu(fixture.desktop)) {
    if (item.text.starts_with("Where is")) {
      lines.push_back(item.text);
      for (const MenuItem& line : item.children) {
        lines.push_back(line.text);
      }
    }
  }
  return lines;
}

TEST_CASE("away › the menu says who had an own sprite last, and it is greeted when it is home") {
  TestDesktop fixture;
  fixture.Join();
  fixture.desktop.sprites().SetClock({kThursday, kThursday});
  CHECK(Away(fixture).empty());
  ThrowOwn(&fixture);
  const std::string name = fixture.sheet->description.name;
  const Request request = fixture.Pop("/crossings", Method::kPost);
  CHECK(Away(fixture) == std::vector{"Where is " + name + "?", name + ": on its way, 7:00"});
  fixture.Respond(request, 202, {{"to", kBob}});
  fixture.Pass(10);
  CHECK(Away(fixture)[1] == name + ": last seen with Bob, 7:00");

  TestDesktop again(TestDesktop::Given(), fixture.saved);
  again.desktop.sprites().SetClock({kThursday, kThursday});
  again.MeetNeighbours();
  CHECK(Away(again) == Away(fixture));
  again.Receive({Home(again, 1, 17), Home(again, 2, 18)});
  const Scene& scene = again.Pass(3'000);
  CHECK(Away(again).empty());
  const auto& sprites = again.desktop.simulation().sprites();
  REQUIRE(sprites.size() == 2);
  CHECK(sprites[0].from_shelf);
  CHECK(!sprites[1].from_shelf);  // it is home already
  CHECK(again.desktop.guests().size() == 1);
  REQUIRE(scene.bubbles.size() == 2);
  CHECK(scene.bubbles[0].text == name + " is home: 17 desktops since today");
}

// Whether the newest sprite hops after its landing, and then greets.
bool HopsAndGreets(TestDesktop* fixture) {
  bool has_landed = false;
  bool hops = false;
  for (int i = 0; i < 500; i++) {
    fixture->Pass(20);
    const Mode mode = fixture->desktop.simulation().sprites().back().mode;
    has_landed = has_landed || mode != Mode::kFall;
    hops = hops || (has_landed && mode == Mode::kFall);
    if (mode == Mode::kGreet) {
      return hops;
    }
  }
  return false;
}

TEST_CASE("away › a sprite that is home hops and greets, a guest does not") {
  struct Case {
    Json from;
    bool is_away;
    bool greets;
  };
  for (const Case& one :
       {Case{kBob, false, false}, Case{kBob, true, true}, Case{kMe, false, true}}) {
    CAPTURE(one.from);
    CAPTURE(one.is_away);
    TestDesktop fixture(TestDesktop::Lively());
    fixture.Join();
    fixture.desktop.sprites().SetClock({kThursday, kThursday});
    if (one.is_away) {
      ThrowOwn(&fixture);
      fixture.Respond(fixture.Pop("/crossings", Method::kPost), 202, {{"to", kBob}});
    }
    Json event = Home(fixture, 1, 17);
    event["from"] = one.from;
    fixture.Receive({event});
    CHECK(HopsAndGreets(&fixture) == one.greets);
  }
}

TEST_CASE("away › a throw from here to here is one hop") {
  TestDesktop fixture;
  fixture.Join();
  fixture.desktop.sprites().SetClock({kThursday, kThursday});
  ThrowOwn(&fixture);
  fixture.Respond(fixture.Pop("/crossings", Method::kPost), 202, {{"to", kMe}});
  Json event = Home(fixture, 1, 1);
  event["from"] = kMe;
  fixture.Receive({event});
  fixture.Pass(100);
  REQUIRE(Shown(fixture) == 1);
  CHECK(fixture.desktop.simulation().sprites()[0].from_shelf);
  CHECK(fixture.desktop.simulation().sprites()[0].journey.hops == 1);
}

TEST_CASE("away › an own sprite that a muted desktop throws back is home") {
  TestDesktop fixture;
  fixture.Join();
  fixture.desktop.sprites().SetClock({kThursday, kThursday});
  ThrowOwn(&fixture);
  fixture.Respond(fixture.Pop("/crossings", Method::kPost), 202, {{"to", kBob}});
  fixture.desktop.Mute({"9-3e", "Bob"}, true);
  fixture.Receive({Home(fixture, 1, 2)});
  fixture.Pass(100);
  REQUIRE(Shown(fixture) == 1);
  CHECK(fixture.desktop.simulation().sprites()[0].from_shelf);
}

TEST_CASE("away › one that is refused is not away, nor is a guest that is thrown on") {
  TestDesktop fixture;
  fixture.Join();
  fixture.desktop.sprites().SetClock({kThursday, kThursday});
  ThrowOwn(&fixture);
  const Request refused = fixture.Pop("/crossings", Method::kPost);
  fixture.Respond(refused, 503, {{"code", "mailbox-full"}});
  fixture.Pass(10);
  CHECK(Away(fixture).empty());
  fixture.Receive({Arriving(1, kStranger)});
  fixture.Pass(3'000);
  fixture.desktop.sprites().ThrowTo(fixture.desktop.simulation().sprites().back().id, Edge::kRight);
  fixture.Respond(fixture.Pop("/crossings", Method::kPost), 202, {{"to", kBob}});
  CHECK(Away(fixture).empty());
}

Json Playing(int seq, const std::string& animation) {
  Json event = Arriving(seq, kStranger);
  event["sprite"]["animation"] = animation;
  return event;
}

// The animation with which the next sprite crosses.
std::string Crossing(TestDesktop* fixture) {
  const Request request = fixture->Pop("/crossings", Method::kPost);
  fixture->Respond(request, 202, {{"to", kBob}});
  return Json::parse(request.body)["sprite"]["animation"];
}

bool Says(const Scene& scene, const std::string& text) {
  return std::ranges::any_of(scene.bubbles,
                             [&](const DrawnBubble& bubble) { return bubble.text == text; });
}

TEST_CASE("games › one that is kept up says so, and counts on; on the ground it says how far") {
  TestDesktop fixture;
  fixture.Join();
  fixture.Receive({Playing(1, "keep-up-2")});
  CHECK(Says(fixture.Pass(20), "Kept up over 2 edges! Don’t let it touch the ground"));
  fixture.desktop.sprites().ThrowTo(fixture.desktop.simulation().sprites()[0].id, Edge::kLeft);
  CHECK(Crossing(&fixture) == "keep-up-3");
  fixture.Receive({Playing(2, "keep-up-4")});
  CHECK(Says(fixture.Pass(3'000), "Guest was kept up over 4 edges."));
  fixture.desktop.sprites().ThrowTo(fixture.desktop.simulation().sprites()[0].id, Edge::kLeft);
  CHECK(Crossing(&fixture) == "fall");
}

TEST_CASE("games › an own throw to oneself begins none, and goes on with one") {
  for (const auto& [animation, next] : {std::pair{"fall", "fall"}, {"keep-up-3", "keep-up-4"}}) {
    TestDesktop fixture;
    fixture.Join();
    Json home = Playing(1, animation);
    home["from"] = kMe;
    fixture.Receive({home});
    fixture.Pass(20);
    fixture.desktop.sprites().ThrowTo(fixture.desktop.simulation().sprites()[0].id, Edge::kLeft);
    CHECK(Crossing(&fixture) == next);
  }
}

TEST_CASE("games › the menu of a sprite makes it a hot potato, which goes off also while paused") {
  TestDesktop fixture;
  fixture.Join();
  const SpriteId own = fixture.DropInOwn();
  const std::string name = fixture.sheet->description.name;
  const Menu menu = SpriteMenu(fixture.desktop, *fixture.desktop.simulation().Find(own));
  CHECK(std::ranges::any_of(menu[2].children, [](const MenuItem& item) {
    return item.text == "M&ake it a hot potato" && item.choice.command == MenuCommand::kLightPotato;
  }));
  fixture.desktop.LightPotato(own);
  fixture.desktop.LightPotato(kPeer);  // there is no such sprite
  CHECK(Says(fixture.Pass(20), "🔥 Hot potato! Throw it on"));
  fixture.desktop.Pause(true);
  CHECK(Says(fixture.Pass(kRemarkMs), "🔥"));
  fixture.Pass(27'470 - kRemarkMs);  // luck is a half
  CHECK(!Says(fixture.Pass(9), "💥 " + name + ", the hot potato, went off here."));
  fixture.sounds.clear();
  CHECK(Says(fixture.Pass(10), "💥 " + name + ", the hot potato, went off here."));
  CHECK(fixture.sounds == std::vector{Sound::kLand});
}

TEST_CASE("games › a potato that was thrown on says at its edge that it went off elsewhere") {
  TestDesktop fixture;
  fixture.Join();
  fixture.Receive({Playing(1, "hot-potato-101")});
  fixture.Pass(3'000);
  fixture.desktop.sprites().ThrowTo(fixture.desktop.simulation().sprites()[0].id, Edge::kRight);
  const Request request = fixture.Pop("/crossings", Method::kPost);
  const std::string animation = Json::parse(request.body)["sprite"]["animation"];
  CHECK(animation.starts_with("hot-potato-"));
  CHECK(animation.size() == std::string("hot-potato-70").size());
  TestDesktop again(TestDesktop::Given(), fixture.saved_before_request);
  again.MeetNeighbours();
  CHECK(Json::parse(again.Pop("/crossings", Method::kPost).body) == Json::parse(request.body));
  fixture.Respond(request, 202, {{"to", kBob}});
  const std::string burnt = "💥 Guest, the hot potato, went off, and not here.";
  CHECK(!Says(fixture.Pass(8'000), burnt));
  const Scene& scene = fixture.Pass(2'500);
  CHECK(Says(scene, burnt));
  CHECK(scene.bubbles[0].post.edge == Edge::kRight);
}

TEST_CASE("games › one that only passes takes its game with it, seen, unseen or muted") {
  for (const bool shows : {true, false}) {
    TestDesktop fixture;
    fixture.Join("1-1", {{"stage", shows}});
    Json event = Playing(1, "hot-potato-99");
    event["goal"] = GoalTo("Zoe", 2, 1);
    fixture.Receive({event});
    CHECK(Crossing(&fixture) == "hot-potato-99");
    fixture.desktop.Mute({"9-3e", "Bob"}, true);
    fixture.Receive({Playing(2, "keep-up-7")});
    CHECK(Crossing(&fixture) == "keep-up-7");
    CHECK(fixture.Pass(20'000).bubbles.empty());
  }
}

}  // namespace
}  // namespace sprites
