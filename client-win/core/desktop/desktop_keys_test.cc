// A desktop that is used without a pointer: which sprite the keys steer, and what they do with it.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/desktop/desktop.h"
#include "test/core/test_spr.h"

namespace sprites {
namespace {

// A desktop of 800 × 600 without a relay, with three sprites on its floor.
struct KeyRoom {
  KeyRoom() : desktop(Settings{}, [] { return 0.5; }) {
    const Rect all{0, 0, 800, 600};
    desktop.look().SetMonitors(std::vector<Monitor>{{all, all, 1, true}});
    const SheetPointer sheet = ReadSheet(TestSpr(0));
    desktop.look().AddToShelf(sheet);
    for (const double x : {100.0, 400.0, 700.0}) {
      ids.push_back(desktop.sprites().DropIn(sheet->file, Point{x, 600}));
    }
    Pass(100);
  }
  void Pass(int64_t ms) {
    for (const int64_t end = now + ms; now < end;) {
      desktop.Tick(now += 10);
    }
  }
  const Sprite& Find(size_t index) const { return *desktop.simulation().Find(ids[index]); }

  Desktop desktop;
  std::vector<SpriteId> ids;
  int64_t now = 0;
};

TEST_CASE("keys › select sprites in the order in which they came, and the first after the last") {
  KeyRoom room;
  std::vector<SpriteId> forwards;
  std::vector<SpriteId> backwards;
  for (int i = 0; i < 4; i++) {
    room.desktop.sprites().SelectByKeys(room.desktop.sprites().NextSprite(false));
    forwards.push_back(room.desktop.sprites().selected());
  }
  CHECK(forwards == std::vector<SpriteId>{room.ids[0], room.ids[1], room.ids[2], room.ids[0]});
  // A sprite that the pointer has touched is drawn above the others, and keeps its turn.
  room.desktop.sprites().Grab(room.ids[0], {100, 590}, 0);
  room.desktop.sprites().Release(0);
  room.Pass(100);
  for (int i = 0; i < 4; i++) {
    room.desktop.sprites().SelectByKeys(room.desktop.sprites().NextSprite(true));
    backwards.push_back(room.desktop.sprites().selected());
  }
  CHECK(backwards == std::vector<SpriteId>{room.ids[2], room.ids[1], room.ids[0], room.ids[2]});
}

TEST_CASE("keys › reach no sprite on an empty desktop, and none behind a full-screen program") {
  KeyRoom room;
  WindowArea game;
  game.id = 1;
  game.rect = {0, 0, 800, 600};
  game.has_caption = false;
  game.is_foreground = true;
  room.desktop.look().SetWindows(std::vector<WindowArea>{game});
  room.Pass(10);
  CHECK(room.desktop.sprites().NextSprite(false) == kNobody);
  room.desktop.look().SetWindows({});
  room.Pass(10);
  CHECK(room.desktop.sprites().NextSprite(false) == room.ids[0]);
  for (const SpriteId id : room.ids) {
    room.desktop.sprites().PutAway(id);
  }
  CHECK(room.desktop.sprites().NextSprite(false) == kNobody);  // although it was drawn a moment ago
  room.Pass(10);
  CHECK(room.desktop.sprites().NextSprite(true) == kNobody);
}

TEST_CASE("keys › go on from a sprite that has left") {
  KeyRoom room;
  room.desktop.sprites().SelectByKeys(room.ids[1]);
  room.desktop.sprites().PutAway(room.ids[1]);
  room.Pass(10);
  CHECK(room.desktop.sprites().KeysHint().empty());
  CHECK(room.desktop.sprites().NextSprite(false) == room.ids[2]);
  CHECK(room.desktop.sprites().NextSprite(true) == room.ids[0]);
}

TEST_CASE("keys › an arrow makes the chosen sprite run, and with Ctrl throws it over that edge") {
  struct Case {
    Key key;
    double vx;  // its sign
    double vy;
  };
  for (const Case& one : {Case{Key::kLeft, -1, -1}, Case{Key::kRight, 1, -1}, Case{Key::kUp, 0, -1},
                          Case{Key::kDown, 0, 1}}) {
    CAPTURE(static_cast<int>(one.key));
    KeyRoom room;
    room.desktop.sprites().SelectByKeys(room.ids[1]);
    room.desktop.sprites().Press(Key::kRight, true);
    room.Pass(50);
    CHECK(room.Find(1).vx > 0);
    CHECK(!room.Find(1).thrown);
    room.desktop.sprites().Press(one.key, true, true);
    const Sprite& thrown = room.Find(1);
    CHECK(thrown.thrown);
    CHECK(thrown.vx * one.vx >= 0);
    CHECK((thrown.vx == 0) == (one.vx == 0));
    CHECK(thrown.vy * one.vy > 0);
    CHECK(room.Find(0).thrown == false);
    const double vx = thrown.vx;
    room.Pass(50);
    CHECK(room.Find(1).vx == vx);  // the arrow that is still down does not turn it round
  }
}

TEST_CASE("keys › Ctrl does nothing to the space bar, to no sprite, or to one that is held") {
  KeyRoom room;
  room.desktop.sprites().Press(Key::kLeft, true, true);
  for (size_t i = 0; i < room.ids.size(); i++) {
    CHECK(!room.Find(i).thrown);
  }
  room.desktop.sprites().SelectByKeys(room.ids[0]);
  room.desktop.sprites().Press(Key::kSpace, true, true);
  CHECK(room.Find(0).vy < 0);  // it jumps
  CHECK(!room.Find(0).thrown);
  room.desktop.sprites().SelectByKeys(room.ids[1]);
  room.desktop.sprites().Grab(room.ids[1], {400, 590}, 0);
  room.desktop.sprites().Press(Key::kLeft, true, true);
  CHECK(room.Find(1).mode == Mode::kDrag);
}

TEST_CASE("keys › a bubble says what they do, later only the sprite's name; a click shows none") {
  KeyRoom room;
  const std::string name = room.Find(0).name;
  CHECK(room.desktop.sprites().KeysHint().empty());
  room.desktop.sprites().Select(room.ids[0]);
  CHECK(room.desktop.sprites().KeysHint().empty());
  room.desktop.sprites().SelectByKeys(room.ids[0]);
  const std::string hint = room.desktop.sprites().KeysHint();
  CHECK(hint.starts_with(name + ": arrow keys and space."));
  room.Pass(kKeysHintMs - 10);
  CHECK(room.desktop.sprites().KeysHint() == hint);
  room.Pass(10);
  CHECK(room.desktop.sprites().KeysHint() == name);
  room.desktop.sprites().SelectByKeys(room.desktop.sprites().NextSprite(false));
  CHECK(room.desktop.sprites().KeysHint() != room.Find(1).name);
  room.desktop.sprites().DismissKeysHint();
  CHECK(room.desktop.sprites().KeysHint().empty());
  CHECK(room.desktop.sprites().selected() == room.ids[1]);
  room.desktop.sprites().SelectByKeys(kNobody);
  CHECK(room.desktop.sprites().KeysHint().empty());
}

}  // namespace
}  // namespace sprites
