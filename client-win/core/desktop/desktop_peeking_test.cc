#include <doctest/doctest.h>

#include <algorithm>

#include "core/words/menus.h"
#include "test/core/test_desktop.h"

namespace sprites {
namespace {

// A desktop that peeks at a neighbour, and at which a neighbour peeks.
struct Look : TestDesktop {
  explicit Look(const Settings& settings = Given()) : TestDesktop(settings) {}

  // `stage`: what the relay says about the stage; nothing for a relay without peeks.
  Json Join(std::optional<bool> stage = true) {
    return TestDesktop::Join("1-1", stage ? Json{{"stage", *stage}} : Json::object());
  }
  // Looks over an edge, which the relay grants.
  void Open(Edge edge = Edge::kLeft) {
    desktop.peeking().PeekOver(edge);
    Respond(Pop("/peeks", Method::kPost), 202, {{"edge", "left"}, {"leaseMs", 10'000}});
  }
  // Bob shows one sprite, `beyond` px beyond the edge.
  Json Stage(double beyond, const char* edge = "left", const Json& from = kBob) {
    const bool is_left = std::string(edge) == "left";
    return {{"type", "stage"},
            {"edge", edge},
            {"ageMs", 0},
            {"from", from},
            {"width", 1000},
            {"height", 600},
            {"files", {sheet->file}},
            {"sprites",
             {{{"id", 7}, {"x", is_left ? 1000 - beyond : beyond}, {"y", 600}, {"vx", 60}}}}};
  }
};

TEST_CASE("peeking › a pointer that rests at an edge shows the neighbour's sprites beyond it") {
  Look look;
  look.Join();
  look.pointer = Point{0, 300};
  look.Pass(kPeekRestMs - 20);
  CHECK(!look.Find("/peeks", Method::kPost));
  const Request peek = look.Pop("/peeks", Method::kPost);
  CHECK(peek.body == R"({"edge":"left"})");
  look.Respond(peek, 202, {{"edge", "left"}, {"leaseMs", 10'000}});
  CHECK(look.Pass(10).beyond.empty());  // nothing opens before something is there
  look.ReceiveMomentary({look.Stage(30)});
  const Scene& scene = look.Pass(10);
  REQUIRE(scene.beyond.size() == 2);
  const DrawnSprite& pane = scene.beyond[0];
  CHECK(pane.x == 0);
  CHECK(pane.width == 320);
  CHECK(pane.height == 560);
  CHECK(!pane.is_silhouette);
  const DrawnSprite& cat = scene.beyond[1];
  CHECK(cat.is_silhouette);
  CHECK(cat.sheet == look.sheet);
  // Its feet are on the floor, 30 px before the line.
  CHECK(cat.Top() + cat.Shown().height == 560);
  CHECK(cat.x < 290);
  CHECK(cat.x + cat.width > 290);
  CHECK(scene.idle_ms == 0);
  // It walks up to the line, where it is cut off, and is gone behind it.
  const Scene& near = look.Pass(500);
  REQUIRE(near.beyond.size() == 2);
  CHECK(near.beyond[1].Left() + near.beyond[1].Shown().width == 320);
  CHECK(near.beyond[1].crop);
  look.ReceiveMomentary({look.Stage(-100)});
  CHECK(look.Pass(800).beyond.size() == 1);
  look.pointer = Point{400, 300};
  CHECK(look.Pass(kPeekLingerMs + 20).beyond.empty());
  CHECK(look.Pop("/peeks", Method::kPost).body == R"({"edge":null})");
}

TEST_CASE("peeking › shows what is beyond the right edge at the right") {
  Look look;
  look.Join();
  look.Open(Edge::kRight);
  look.ReceiveMomentary({look.Stage(30, "right")});
  const Scene& scene = look.Pass(10);
  REQUIRE(scene.beyond.size() == 2);
  CHECK(scene.beyond[0].x == 480);
  CHECK(scene.beyond[1].x < 510);
  CHECK(scene.beyond[1].x + scene.beyond[1].width > 510);
}

TEST_CASE(
    "peeking › needs a neighbour, a relay that knows peeks, and a pointer that holds nothing") {
  Look alone;
  alone.Join();
  alone.desktop.peeking().PeekOver(Edge::kTop);  // leads home
  alone.Pass(100);
  CHECK(!alone.Find("/peeks", Method::kPost));
  Look old;
  old.Join(std::nullopt);
  CHECK(!old.desktop.peeking().CanPeek());
  old.pointer = Point{0, 300};
  old.Pass(2'000);
  CHECK(!old.Find("/peeks", Method::kPost));
  Look busy;
  busy.Join();
  const SpriteId id = busy.desktop.sprites().DropIn(busy.sheet->file, Point{400, 560});
  busy.pointer = Point{0, 300};
  busy.Pass(100);
  busy.desktop.sprites().Grab(id, {400, 560}, 0);
  busy.Pass(2'000);
  CHECK(!busy.Find("/peeks", Method::kPost));
  busy.desktop.sprites().Release(10);
  CHECK(busy.Pop("/peeks", Method::kPost).body == R"({"edge":"left"})");
}

TEST_CASE(
    "peeking › a refusal shows a sentence after a choice, and nothing after a resting pointer") {
  Look look;
  look.Join();
  look.desktop.peeking().PeekOver(Edge::kLeft);
  look.Respond(look.Pop("/peeks", Method::kPost), 403, {{"code", "stage-hidden"}});
  look.Pass(10);
  REQUIRE(look.toasts.size() == 1);
  CHECK(look.toasts[0].text == "Bob does not show what is there.");
  CHECK(!look.desktop.peeking().chosen());
  look.toasts.clear();
  look.pointer = Point{799, 300};
  look.Pop("/peeks", Method::kPost);  // ends the choice
  Look resting;
  resting.Join();
  resting.pointer = Point{0, 300};
  resting.Respond(resting.Pop("/peeks", Method::kPost), 403, {{"code", "stage-hidden"}});
  resting.Pass(1'000);
  CHECK(resting.toasts.empty());
}

TEST_CASE("peeking › is not offered after an old relay has answered 404") {
  Look look;
  look.Join();
  CHECK(look.desktop.peeking().CanPeek());
  look.desktop.peeking().PeekOver(Edge::kLeft);
  look.Respond(look.Pop("/peeks", Method::kPost), 404, {{"code", "not-found"}});
  look.Pass(20'000);
  CHECK(!look.desktop.peeking().CanPeek());
  CHECK(!look.Find("/peeks", Method::kPost));
  CHECK(look.toasts.empty());
}

TEST_CASE("peeking › shows a parcel for a hidden picture, and does not show a muted neighbour") {
  Look look;
  look.Join();
  look.Open();
  look.desktop.look().HidePicture(look.sheet->file, true);
  look.ReceiveMomentary({look.Stage(30)});
  const Scene& scene = look.Pass(10);
  REQUIRE(scene.beyond.size() == 2);
  CHECK(scene.beyond[1].sheet == Parcel());
  look.desktop.Mute({"9-3e", "Bob"}, true);
  CHECK(look.Pass(10).beyond.empty());
  look.ReceiveMomentary({look.Stage(30)});
  CHECK(look.Pass(10).beyond.empty());
}

TEST_CASE("peeking › ends when the stage or the seat ends, and after silence") {
  Look look;
  look.Join();
  look.Open();
  look.ReceiveMomentary({look.Stage(30)});
  CHECK(look.Pass(10).beyond.size() == 2);
  look.ReceiveMomentary({{{"type", "stage"},
                          {"edge", "left"},
                          {"files", Json::array()},
                          {"sprites", Json::array()}}});
  CHECK(look.Pass(10).beyond.empty());
  CHECK(look.Pop("/peeks", Method::kPost).body == R"({"edge":"left"})");  // it asks again
  look.ReceiveMomentary({look.Stage(30)});
  CHECK(look.Pass(kSilenceMs).beyond.size() >= 1);
  CHECK(look.Pass(20).beyond.empty());
  look.ReceiveMomentary({look.Stage(30)});
  CHECK(!look.Pass(10).beyond.empty());
  look.EndSeat();
  CHECK(look.Pass(10).beyond.empty());
}

TEST_CASE("peeking › ignores a stage that was not asked for") {
  Look look;
  look.Join();
  look.ReceiveMomentary({look.Stage(30)});
  look.Pass(10);
  look.Open(Edge::kRight);
  look.ReceiveMomentary({look.Stage(30)});
  CHECK(look.Pass(10).beyond.empty());
}

TEST_CASE("peeking › a stage ten times a second neither drains the budget nor writes to the disk") {
  Look look;
  look.Join();
  look.desktop.sprites().DropIn(look.sheet->file, Point{400, 500});
  look.Open();
  look.Pass(100);
  look.saves = 0;
  const int64_t start = look.now;
  int64_t renewed = start;
  for (int i = 0; i < 600; i++) {  // a minute
    look.ReceiveMomentary({look.Stage(30)});
    if (const auto peek = look.Find("/peeks", Method::kPost)) {
      look.Respond(*peek, 202, {{"edge", "left"}, {"leaseMs", 10'000}});
      renewed = look.now;
    }
    look.Pass(10);
  }
  CHECK(look.now - start >= 59'000);  // at most ten polls a second
  CHECK(look.now - start < 75'000);
  CHECK(look.now - renewed <= 6'000);
  CHECK(look.saves <= 8);  // where the sprites are, every 10 s
}

TEST_CASE("peeking › the stage is posted while somebody watches, and follows the seat") {
  Look look;
  look.Join();
  look.desktop.sprites().DropIn(look.sheet->file, Point{100, 560});
  look.desktop.sprites().DropIn(look.sheet->file, Point{700, 560});
  look.Pass(1'000);
  CHECK(!look.Find("/stage", Method::kPost));
  look.ReceiveMomentary({{{"type", "watched"}, {"edges", {"left"}}}});
  const Request post = look.Pop("/stage", Method::kPost);
  const Json stage = Json::parse(post.body);
  CHECK(stage["width"] == 800);
  CHECK(stage["height"] == 600);
  REQUIRE(stage["sprites"].size() == 1);
  CHECK(stage["sprites"][0]["x"] == 100);
  CHECK(stage["sprites"][0]["y"] == 560);
  CHECK(look.desktop.peeking().watched() == std::vector{Edge::kLeft});
  look.Respond(post, 202, {{"edges", {"left"}}});
  look.Pass(kStageAliveMs - 50);
  CHECK(!look.Find("/stage", Method::kPost));  // nothing has moved
  look.Pass(100);
  CHECK(look.Find("/stage", Method::kPost));
  look.EndSeat();
  CHECK(look.desktop.peeking().watched().empty());
}

TEST_CASE("peeking › sends a change of the switch to the relay, saves it, and joins with it") {
  Look look;
  CHECK(!look.Join(false).contains("stage"));  // as the world says
  CHECK(!look.desktop.peeking().IsStageShown());
  look.desktop.peeking().ShowStageToNeighbours(true);
  const Request on = look.Pop("/stage", Method::kPut);
  CHECK(on.body == R"({"stage":true})");
  look.Respond(on, 204, nullptr);
  CHECK(look.desktop.peeking().IsStageShown());
  CHECK(look.desktop.settings().show_stage == ShowStage::kShow);
  look.desktop.peeking().ShowStageToNeighbours(false);
  look.Respond(look.Pop("/stage", Method::kPut), 204, nullptr);
  CHECK(!look.desktop.peeking().IsStageShown());
  look.EndSeat();
  CHECK(look.Join(true)["stage"] == false);
}

TEST_CASE(
    "peeking › a choice to show the stage ends with the world, a choice to hide it does not") {
  for (const ShowStage choice : {ShowStage::kShow, ShowStage::kHide}) {
    Settings settings = Look::Given();
    settings.world = "garden";
    settings.show_stage = choice;
    Look look(settings);
    settings.name = "Ann";
    look.desktop.SetSettings(settings);
    CHECK(look.desktop.settings().show_stage == choice);
    settings.world = "";
    look.desktop.SetSettings(settings);
    const ShowStage then = choice == ShowStage::kHide ? ShowStage::kHide : ShowStage::kAsWorld;
    CHECK(look.desktop.settings().show_stage == then);
    Look other(settings);
    other.desktop.Open({"", "garden", ""});
    CHECK(other.desktop.settings().show_stage == then);
  }
}

TEST_CASE("peeking › ignores the pointer when that is turned off, or a program covers the screen") {
  Settings settings = Look::Given();
  settings.peek_at_edges = false;
  Look off(settings);
  off.Join();
  off.pointer = Point{0, 300};
  off.Pass(2'000);
  CHECK(!off.Find("/peeks", Method::kPost));
  off.desktop.peeking().PeekOver(Edge::kLeft);  // the menu still works
  CHECK(off.Pop("/peeks", Method::kPost).body == R"({"edge":"left"})");
  Look covered;
  covered.Join();
  covered.desktop.look().SetWindows(
      std::vector<WindowArea>{{1, {0, 0, 800, 600}, false, true, true}});
  covered.pointer = Point{0, 300};
  covered.Pass(2'000);
  CHECK(!covered.Find("/peeks", Method::kPost));
}

const MenuItem* Find(const Menu& menu, const std::string& part) {
  for (const MenuItem& item : menu) {
    if (item.text.find(part) != std::string::npos) {
      return &item;
    }
    if (const MenuItem* below = Find(item.children, part)) {
      return below;
    }
  }
  return nullptr;
}

TEST_CASE("peeking › the menu has each edge with its neighbour, and the switch") {
  Look look;
  CHECK(Find(ProgramMenu(look.desktop), "&edge") == nullptr);
  look.Join();
  look.desktop.peeking().PeekOver(Edge::kRight);
  look.Pass(10);
  const Menu menu = ProgramMenu(look.desktop);
  const MenuItem* peek = Find(menu, "&edge");
  REQUIRE(peek != nullptr);
  REQUIRE(peek->children.size() == 4);
  CHECK(peek->is_enabled);
  CHECK(peek->children[0].text == "&Left: Bob");
  CHECK(peek->children[0].choice.command == MenuCommand::kPeek);
  CHECK(peek->children[0].choice.is_on);
  CHECK(peek->children[1].is_checked);
  CHECK(!peek->children[1].choice.is_on);
  CHECK(peek->children[2].text == "&Up");
  CHECK(!peek->children[2].is_enabled);
  const MenuItem* shown = Find(menu, "may &look in");
  REQUIRE(shown != nullptr);
  CHECK(shown->is_checked);
  CHECK(shown->choice.command == MenuCommand::kShowStage);
  CHECK(!shown->choice.is_on);
  Look old;
  old.Join(std::nullopt);
  CHECK(Find(ProgramMenu(old.desktop), "may &look in") == nullptr);
}

TEST_CASE("peeking › the menu says who looks in") {
  Look look;
  look.Join();
  CHECK(Find(ProgramMenu(look.desktop), "Looking in now") == nullptr);
  look.ReceiveMomentary({{{"type", "watched"}, {"edges", {"left", "right"}}}});
  look.Pass(10);
  const Menu menu = ProgramMenu(look.desktop);
  const MenuItem* watchers = Find(menu, "Looking in now");
  REQUIRE(watchers != nullptr);
  CHECK(watchers->text == "Looking in now: Bob");
  CHECK(!watchers->is_enabled);
}

}  // namespace
}  // namespace sprites
