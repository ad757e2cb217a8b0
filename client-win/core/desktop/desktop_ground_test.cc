// What a desktop draws on the ground: shadows and dust.
#include <algorithm>

#include "core/scene/shadow.h"
#include "core/scene/snooze.h"
#include "test/core/test_desktop.h"

namespace sprites {
namespace {

struct GroundDesktop : TestDesktop {
  explicit GroundDesktop(const Settings& settings = Given()) : TestDesktop(settings) {
    desktop.look().SetGroundShown(true);
  }
};

size_t PuffsOf(const Scene& scene) {
  return static_cast<size_t>(std::ranges::count_if(
      scene.ground, [](const DrawnSprite& drawn) { return drawn.id >= kFirstPuff && drawn.id < kFirstSnooze; }));
}

std::optional<DrawnSprite> ShadowOf(const Scene& scene, SpriteId id) {
  const auto found = std::ranges::find(scene.ground, id, &DrawnSprite::id);
  return found == scene.ground.end() ? std::nullopt : std::optional(*found);
}

// Passes time until the scene is as wanted.
template <class Wanted>
const Scene& PassUntil(TestDesktop* test, Wanted wanted) {
  for (int i = 0; i < 1000; i++) {
    const Scene& scene = test->Pass(10);
    if (wanted(scene)) {
      return scene;
    }
  }
  FAIL("it never comes");
  return test->Pass(10);
}

TEST_CASE("ground › a sprite in the air has no shadow; on the floor it is below its feet") {
  GroundDesktop test;
  const SpriteId id = test.desktop.sprites().DropIn(test.sheet->file, Point{400, 300});
  CHECK(!ShadowOf(test.Pass(10), id));
  const Scene& scene = test.Pass(5000);
  const Sprite& sprite = *test.desktop.simulation().Find(id);
  REQUIRE(sprite.y == 560);
  const auto shadow = ShadowOf(scene, id);
  REQUIRE(shadow);
  CHECK(shadow->cell == 0);
  CHECK(shadow->x + shadow->width / 2 == 400);
  CHECK(shadow->y < 560);
  CHECK(shadow->y + shadow->height > 560);
}

TEST_CASE("ground › a shadow at rest is the same in each scene, and keeps no shell awake") {
  GroundDesktop test;
  test.desktop.sprites().DropIn(test.sheet->file, Point{400, 300});
  const std::vector<DrawnSprite> before = test.Pass(5000).ground;
  const Scene& scene = test.Pass(10);
  CHECK(scene.ground == before);
  CHECK(scene.idle_ms > 30);
}

TEST_CASE("ground › on a window, the shadow ends where the window ends") {
  GroundDesktop test;
  test.desktop.look().SetWindows(std::vector<WindowArea>{{1, {200, 300, 405, 500}}});
  const SpriteId id = test.desktop.sprites().DropIn(test.sheet->file, Point{400, 200});
  const Scene& scene = test.Pass(5000);
  REQUIRE(test.desktop.simulation().Find(id)->y == 300);
  const auto shadow = ShadowOf(scene, id);
  REQUIRE(shadow);
  CHECK(shadow->Left() + shadow->Shown().width == 405);
  CHECK(shadow->Top() < 300);
}

TEST_CASE("ground › dust rises where a sprite lands hard, settles, and lets the shell rest") {
  GroundDesktop test(TestDesktop::Lively());
  test.desktop.sprites().DropIn(test.sheet->file, Point{400, 100});
  const Scene& scene = PassUntil(&test, [](const Scene& one) { return PuffsOf(one) > 0; });
  CHECK(scene.idle_ms <= kPuffMs / kPuffSteps);
  CHECK(scene.ground.back().id >= kFirstPuff);  // above the shadows
  CHECK(PuffsOf(test.Pass(static_cast<int64_t>(kPuffMs) + 10)) == 0);
}

TEST_CASE("ground › dust rises where a sprite comes in over an edge") {
  GroundDesktop test(TestDesktop::Lively());
  test.Join();
  test.Receive({{{"type", "sprite"},
                 {"seq", 1},
                 {"from", kBob},
                 {"edge", "left"},
                 {"at", 0.5},
                 {"vx", 900},
                 {"vy", 0},
                 {"sprite", {{"file", test.sheet->file}, {"name", "Blob"}}}}});
  const Scene& scene = test.Pass(10);
  REQUIRE(scene.sprites.size() == 1);
  REQUIRE(PuffsOf(scene) == 1);
  CHECK(scene.ground.front().x < 100);
}

TEST_CASE("ground › no dust flies about while motion is reduced") {
  for (const bool by_system : {false, true}) {
    GroundDesktop test(by_system ? TestDesktop::Lively() : TestDesktop::Given());
    test.desktop.look().SetReducedMotion(by_system);
    test.desktop.sprites().DropIn(test.sheet->file, Point{400, 100});
    for (int i = 0; i < 300; i++) {
      REQUIRE(PuffsOf(test.Pass(10)) == 0);
    }
  }
}

TEST_CASE("ground › dust that is in the air settles when motion is reduced") {
  GroundDesktop test(TestDesktop::Lively());
  test.desktop.sprites().DropIn(test.sheet->file, Point{400, 100});
  PassUntil(&test, [](const Scene& one) { return PuffsOf(one) > 0; });
  test.desktop.look().SetReducedMotion(true);
  CHECK(PuffsOf(test.Pass(10)) == 0);
}

TEST_CASE("ground › it is empty in a program that does not show it") {
  TestDesktop test(TestDesktop::Lively());
  GroundDesktop shows(TestDesktop::Lively());
  for (TestDesktop* one : {&test, static_cast<TestDesktop*>(&shows)}) {
    one->desktop.sprites().DropIn(one->sheet->file, Point{400, 100});
  }
  PassUntil(&shows, [&](const Scene& scene) {
    CHECK(test.Pass(10).ground.empty());
    return PuffsOf(scene) > 0;
  });
  shows.desktop.look().SetGroundShown(false);
  CHECK(shows.Pass(10).ground.empty());
}

TEST_CASE("ground › sprites and what lies there have the opacity that the settings say") {
  Settings settings = TestDesktop::Given();
  settings.opacity = 70;
  GroundDesktop test(settings);
  test.DropInOwn();
  const auto all_have = [](const Scene& scene, int opacity) {
    const auto has = [&](const DrawnSprite& drawn) { return drawn.opacity == opacity; };
    return std::ranges::all_of(scene.sprites, has) && std::ranges::all_of(scene.ground, has);
  };
  CHECK(all_have(PassUntil(&test, [](const Scene& scene) { return !scene.ground.empty(); }), 70));
  test.desktop.look().SetGroundShown(false);  // that screen shows nothing translucent
  CHECK(all_have(test.Pass(10), kOpacityMax));
}

TEST_CASE("ground › what is hidden has neither shadow nor dust") {
  GroundDesktop test(TestDesktop::Lively());
  test.desktop.SetPresence(Presence::kPresenting);
  test.desktop.sprites().DropIn(test.sheet->file, Point{400, 100});
  for (int i = 0; i < 300; i++) {
    REQUIRE(test.Pass(10).ground.empty());
  }
  test.desktop.SetPresence(Presence::kFree);
  CHECK(!test.Pass(10).ground.empty());
}

TEST_CASE("ground › letters stand above a sprite that sleeps, and cost nothing") {
  GroundDesktop test;
  const SpriteId id = test.DropInOwn();
  const auto has_letters = [](const Scene& scene) {
    return std::ranges::any_of(scene.ground,
                               [](const DrawnSprite& one) { return one.id >= kFirstSnooze; });
  };
  CHECK(!has_letters(test.Pass(5'000)));
  CHECK(has_letters(test.Pass(100'000)));
  CHECK(test.desktop.simulation().Find(id)->mode == Mode::kSleep);
  const std::vector<DrawnSprite> before = test.Pass(10).ground;
  const Scene& scene = test.Pass(10);
  CHECK(scene.ground == before);
  CHECK(scene.idle_ms > 30);
}

}  // namespace
}  // namespace sprites
