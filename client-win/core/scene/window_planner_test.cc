#include "core/scene/window_planner.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace sprites {
namespace {

const SheetPointer& SomeSheet() {
  static const SheetPointer sheet = Parcel();
  return sheet;
}

DrawnSprite Drawn(SpriteId id, int x = 0, int cell = 0) {
  return {id, SomeSheet(), cell, x, 0, 32, 32, false, true};
}

Scene SceneOf(const std::vector<SpriteId>& ids) {
  Scene scene;
  for (const SpriteId id : ids) {
    scene.sprites.push_back(Drawn(id));
  }
  return scene;
}

// Windows that carry plans out.
struct Windows {
  struct Window {
    DrawnSprite drawn;
    bool is_painted = false;
    bool is_visible = false;
  };
  std::unordered_map<SpriteId, Window> windows;
  std::vector<SpriteId> stack;  // lowest first

  void CarryOut(const WindowPlan& plan, const Scene& scene) {
    for (const SpriteId id : plan.closed) {
      CHECK(windows.erase(id) == 1);
      std::erase(stack, id);
    }
    for (const SpriteId id : plan.created) {
      CHECK(windows.try_emplace(id).second);
      stack.push_back(id);
    }
    for (const size_t index : plan.painted) {
      const DrawnSprite& drawn = scene.sprites[index];
      windows.at(drawn.id).drawn = drawn;
      windows.at(drawn.id).is_painted = true;
    }
    for (const Placement& placement : plan.placements) {
      Place(placement);
    }
  }

  void Place(const Placement& placement) {
    Window& window = windows.at(placement.id);
    if (placement.moves) {
      window.drawn.x = placement.x;
      window.drawn.y = placement.y;
    }
    CHECK(!(placement.appears && (window.is_visible || !window.is_painted)));
    CHECK(!(placement.disappears && !window.is_visible));
    window.is_visible = (window.is_visible || placement.appears) && !placement.disappears;
    if (placement.below) {
      std::erase(stack, placement.id);
      const auto above =
          *placement.below == kNobody ? stack.end() : std::ranges::find(stack, *placement.below);
      CHECK((*placement.below == kNobody || above != stack.end()));
      stack.insert(above, placement.id);
    }
  }

  void CheckShows(const Scene& scene) const {
    REQUIRE(stack.size() == scene.sprites.size());
    for (size_t i = 0; i < stack.size(); i++) {
      const DrawnSprite& drawn = scene.sprites[i];
      CHECK(stack[i] == drawn.id);
      const Window& window = windows.at(drawn.id);
      CHECK(window.is_visible == drawn.visible);
      if (drawn.visible) {
        CHECK((window.drawn.x == drawn.x && window.drawn.y == drawn.y));
        CHECK(window.drawn.cell == drawn.cell);
      }
    }
  }
};

TEST_CASE("window planner › plans nothing for a scene that is already shown") {
  WindowPlanner planner;
  const Scene scene = SceneOf({1, 2, 3});
  CHECK(planner.Plan(scene.sprites).created.size() == 3);
  CHECK(planner.Plan(scene.sprites).IsEmpty());
  CHECK(!planner.Plan({}).IsEmpty());
  CHECK(planner.Plan({}).IsEmpty());
}

TEST_CASE("window planner › places what moved, paints what changed, and nothing else") {
  WindowPlanner planner;
  Scene scene = SceneOf({1, 2, 3});
  planner.Plan(scene.sprites);
  scene.sprites[0].x = 7;
  scene.sprites[2].cell = 1;
  scene.sprites[2].x = 9;
  const WindowPlan& plan = planner.Plan(scene.sprites);
  REQUIRE(plan.placements.size() == 1);
  CHECK(plan.placements[0] == Placement{.id = 1, .moves = true, .x = 7});
  CHECK(plan.painted == std::vector<size_t>{2});
}

TEST_CASE("window planner › restacks only the one of 150 that comes to the top, or goes down") {
  WindowPlanner planner;
  std::vector<SpriteId> ids(150);
  std::iota(ids.begin(), ids.end(), 1);
  planner.Plan(SceneOf(ids).sprites);
  std::rotate(ids.begin() + 20, ids.begin() + 21, ids.end());
  const WindowPlan& up = planner.Plan(SceneOf(ids).sprites);
  REQUIRE(up.placements.size() == 1);
  CHECK(up.placements[0] == Placement{.id = 21, .below = kNobody});
  std::rotate(ids.rbegin(), ids.rbegin() + 1, ids.rend() - 20);
  const WindowPlan& down = planner.Plan(SceneOf(ids).sprites);
  REQUIRE(down.placements.size() == 1);
  CHECK(down.placements[0] == Placement{.id = 21, .below = 22});
}

TEST_CASE("window planner › paints a sprite again when another part of it is shown") {
  WindowPlanner planner;
  Scene scene = SceneOf({1});
  scene.sprites[0].crop = Crop{4, 0, 4, 8};
  planner.Plan(scene.sprites);
  scene.sprites[0].x = 10;
  const WindowPlan& moved = planner.Plan(scene.sprites);
  CHECK(moved.painted.empty());
  REQUIRE(moved.placements.size() == 1);
  CHECK(moved.placements[0] == Placement{.id = 1, .moves = true, .x = 14});
  scene.sprites[0].crop = Crop{5, 0, 3, 8};
  CHECK(planner.Plan(scene.sprites).painted.size() == 1);
  scene.sprites[0].is_silhouette = true;
  CHECK(planner.Plan(scene.sprites).painted.size() == 1);
  scene.sprites[0].opacity = 50;
  CHECK(planner.Plan(scene.sprites).painted.size() == 1);
}

TEST_CASE("window planner › paints a sprite again when its shadow changes, and moves both as one") {
  WindowPlanner planner;
  Scene scene = SceneOf({1});
  scene.sprites[0].under =
      Underlay{SomeSheet(), 0, kOpacityMax, {-4, 30, 40, 12}, {-4, 30, 40, 12}};
  planner.Plan(scene.sprites);
  scene.sprites[0].x = 10;
  const WindowPlan& moved = planner.Plan(scene.sprites);
  CHECK(moved.painted.empty());
  REQUIRE(moved.placements.size() == 1);
  CHECK(moved.placements[0] == Placement{.id = 1, .moves = true, .x = 6});
  scene.sprites[0].under->cell = 1;
  CHECK(planner.Plan(scene.sprites).painted.size() == 1);
  REQUIRE(planner.Find(1));
  CHECK(*planner.Find(1) == scene.sprites[0]);
  scene.sprites[0].under.reset();
  CHECK(planner.Plan(scene.sprites).painted.size() == 1);
  CHECK(!planner.Find(2));
}

TEST_CASE("window planner › leaves a hidden sprite alone until it is visible again") {
  WindowPlanner planner;
  Scene scene = SceneOf({1});
  scene.sprites[0].visible = false;
  CHECK(planner.Plan(scene.sprites).painted.empty());
  scene.sprites[0].x = 5;
  CHECK(planner.Plan(scene.sprites).IsEmpty());
  scene.sprites[0].visible = true;
  CHECK(planner.Plan(scene.sprites).painted.size() == 1);
  scene.sprites[0].visible = false;
  CHECK(planner.Plan(scene.sprites).placements[0].disappears);
  scene.sprites[0].visible = true;
  const WindowPlan& again = planner.Plan(scene.sprites);
  CHECK(again.painted.empty());
  CHECK((again.placements[0].appears && !again.placements[0].moves));
}

TEST_CASE("window planner › paints again what could not be painted") {
  WindowPlanner planner;
  const Scene scene = SceneOf({1});
  planner.Plan(scene.sprites);
  planner.NotPainted(1);
  planner.NotPainted(2);
  CHECK(planner.Plan(scene.sprites).painted.size() == 1);
}

TEST_CASE("window planner › makes the windows show the scene after any sequence of scenes") {
  const uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 engine(seed);
  const auto below = [&](int limit) { return static_cast<int>(engine() % limit); };
  WindowPlanner planner;
  Windows windows;
  Scene scene;
  SpriteId next = 1;
  for (int round = 0; round < 2000; round++) {
    for (int change = below(6); change > 0; change--) {
      const int count = static_cast<int>(scene.sprites.size());
      const int kind = below(6);
      if (kind == 0 || count == 0) {
        scene.sprites.insert(scene.sprites.begin() + below(count + 1), Drawn(next++));
        continue;
      }
      const auto one = scene.sprites.begin() + below(count);
      if (kind == 1) {
        scene.sprites.erase(one);
      } else if (kind == 2) {
        std::rotate(one, one + 1, scene.sprites.end());
      } else if (kind == 3) {
        one->x = below(100);
      } else if (kind == 4) {
        one->cell = below(3);
      } else {
        one->visible = !one->visible;
      }
    }
    windows.CarryOut(planner.Plan(scene.sprites), scene);
    windows.CheckShows(scene);
  }
}

// The length of the longest rising subsequence, by brute force.
size_t LongestByTrying(const std::vector<size_t>& numbers) {
  size_t longest = 0;
  for (uint32_t chosen = 0; chosen < 1u << numbers.size(); chosen++) {
    std::vector<size_t> some;
    for (size_t i = 0; i < numbers.size(); i++) {
      if ((chosen >> i & 1) != 0) {
        some.push_back(numbers[i]);
      }
    }
    longest = std::ranges::is_sorted(some) ? std::max(longest, some.size()) : longest;
  }
  return longest;
}

TEST_CASE("window planner › restacks as few as possible, for every order of up to seven") {
  for (size_t size = 0; size <= 7; size++) {
    std::vector<size_t> numbers(size);
    std::iota(numbers.begin(), numbers.end(), 0);
    do {
      const auto rising = LongestRising(numbers);
      CHECK(rising.size() == LongestByTrying(numbers));
      CHECK(std::ranges::is_sorted(rising));
      CHECK(std::ranges::is_sorted(rising, {}, [&](size_t index) { return numbers[index]; }));
    } while (std::ranges::next_permutation(numbers).found);
  }
}

}  // namespace
}  // namespace sprites
