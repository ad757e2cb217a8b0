// behaviour.vectors.json tests the rules (vectors_test.cc). Here is what only this client has:
// several monitors with different scales, and monitors that come and go.
#include "core/motion/simulation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <tuple>

namespace sprites {
namespace {

Monitor At(double left, double top, double right, double bottom, double scale = 1) {
  const Rect all{left, top, right, bottom};
  return {all, all, scale, left == 0 && top == 0};
}

Simulation SimulationOf(const std::vector<Monitor>& monitors) {
  Simulation simulation;
  simulation.SetScreen(Screen(monitors));
  simulation.SetCalm(true);  // sprites do nothing by themselves
  return simulation;
}

SpriteId Put(Simulation* simulation, double x, double y) {
  NewSprite added;
  added.nature = {44, 42, 60, 420, 1800, 0.3};
  added.place = {x, y};
  return simulation->Add(added);
}

std::vector<Departure> Pass(Simulation* simulation, double ms) {
  std::vector<Departure> left;
  const double end = simulation->now_ms() + ms;
  for (double now = simulation->now_ms(); now < end;) {
    now = std::min(now + 2 * kStepMs, end);
    for (Departure& departure : simulation->Step(now + 1e-6, [] { return 0.9; })) {
      left.push_back(std::move(departure));
    }
  }
  return left;
}

void Fling(Simulation* simulation, SpriteId id, Point from, double vx, double vy) {
  simulation->Grab(id, from, 0);
  for (int ms = 20; ms <= 100; ms += 20) {
    simulation->Drag({from.x + vx * ms / 1000, from.y + vy * ms / 1000}, ms);
  }
  simulation->Release(100);
}

TEST_CASE(
    "simulation › lets a throw fly through to the next monitor, and leave by the outer edge only") {
  Simulation simulation = SimulationOf({At(0, 0, 800, 600), At(800, 0, 1600, 600)});
  const SpriteId id = Put(&simulation, 400, 300);
  simulation.ThrowTo(id, Edge::kRight);
  bool was_on_second = false;
  std::vector<Departure> left;
  for (int i = 0; i < 200 && left.empty(); i++) {
    left = Pass(&simulation, 16);
    const Sprite* sprite = simulation.Find(id);
    was_on_second = was_on_second || (sprite != nullptr && sprite->monitor == 1);
  }
  CHECK(was_on_second);
  REQUIRE(left.size() == 1);
  CHECK(left[0].edge == Edge::kRight);
  CHECK(left[0].sprite.x > 1600);
}

TEST_CASE("simulation › lets a throw leave where no monitor adjoins at its height") {
  Simulation simulation = SimulationOf({At(0, 0, 800, 600), At(800, 400, 1600, 1000)});
  const SpriteId id = Put(&simulation, 700, 200);
  Fling(&simulation, id, {700, 180}, 2000, 0);
  const auto left = Pass(&simulation, 500);
  REQUIRE(left.size() == 1);
  CHECK(left[0].edge == Edge::kRight);
  CHECK(left[0].at < 0.4);
}

TEST_CASE(
    "simulation › lets a sprite walk onto another monitor, up a low step and down a high "
    "one") {
  Simulation simulation =
      SimulationOf({At(0, 0, 800, 600), At(800, 0, 1600, 590), At(1600, 0, 2400, 900)});
  const SpriteId id = Put(&simulation, 780, 600);
  Pass(&simulation, 100);
  simulation.Steer(id, SteerKey::kRight, true);
  Pass(&simulation, 1500);
  const Sprite* sprite = simulation.Find(id);
  CHECK(sprite->y == 590);
  CHECK(sprite->monitor == 1);
  Pass(&simulation, 6000);
  simulation.Steer(id, SteerKey::kRight, false);
  Pass(&simulation, 2000);
  sprite = simulation.Find(id);
  CHECK(sprite->y == 900);
  CHECK(sprite->monitor == 2);
}

TEST_CASE("simulation › scales size and speed with the monitor") {
  Simulation plain = SimulationOf({At(0, 0, 800, 600)});
  Simulation dense = SimulationOf({At(0, 0, 1600, 1200, 2)});
  const SpriteId a = Put(&plain, 400, 100);
  const SpriteId b = Put(&dense, 800, 200);
  Fling(&plain, a, {400, 90}, 300, -200);
  Fling(&dense, b, {800, 180}, 600, -400);
  for (int i = 0; i < 60; i++) {
    Pass(&plain, 16);
    Pass(&dense, 16);
    CHECK(std::abs(plain.Find(a)->x * 2 - dense.Find(b)->x) < 1e-6);
    CHECK(std::abs(plain.Find(a)->y * 2 - dense.Find(b)->y) < 1e-6);
    CHECK(std::abs(plain.Find(a)->vy - dense.Find(b)->vy) < 1e-6);
  }
  // 44 dip are 88 px on the dense monitor, so only there do two sprites 86 px apart overlap.
  for (const auto& [simulation, id, is_overlap] :
       {std::tuple{&plain, a, false}, std::tuple{&dense, b, true}}) {
    const double x = simulation->Find(id)->x + 86;
    const SpriteId beside = Put(simulation, x, simulation->Find(id)->y);
    Pass(simulation, 16);
    CHECK((simulation->Find(beside)->x > x) == is_overlap);
  }
}

TEST_CASE("simulation › reports the speed of a crossing in dip, whatever the scale") {
  for (const double scale : {1.0, 1.25, 2.0}) {
    Simulation simulation = SimulationOf({At(-1920, 0, 0, 1080, scale)});
    const SpriteId id = Put(&simulation, -200, 400);
    Fling(&simulation, id, {-200, 380}, 1000 * scale, 0);
    const auto left = Pass(&simulation, 2000);
    CAPTURE(scale);
    REQUIRE(left.size() == 1);
    CHECK(left[0].vx == 1000);
  }
}

TEST_CASE("simulation › has a task bar as its floor, and lets a sprite rise from behind it") {
  Monitor monitor = At(0, 0, 800, 600);
  monitor.work.bottom = 560;
  Simulation simulation = SimulationOf({monitor});
  const SpriteId id = Put(&simulation, 400, 100);
  Pass(&simulation, 2000);
  CHECK(simulation.Find(id)->y == 560);
  Sprite added;
  added.nature = {44, 42, 60, 420, 1800, 0};
  added.next_ms = 1e9;
  const SpriteId from_below = simulation.Enter(added, {Edge::kBottom, 0.2, 0, 0});
  double highest = 600;
  for (int i = 0; i < 100; i++) {
    Pass(&simulation, 16);
    highest = std::min(highest, simulation.Find(from_below)->y);
  }
  CHECK(highest < 560 - 0.9 * 42);
  CHECK(simulation.Find(from_below)->y == 560);
}

TEST_CASE("simulation › moves sprites to the remaining monitors when one is unplugged") {
  Simulation simulation = SimulationOf({At(0, 0, 800, 600), At(800, -400, 1600, 200)});
  const SpriteId here = Put(&simulation, 400, 600);
  const SpriteId gone = Put(&simulation, 1200, 200);
  Pass(&simulation, 100);
  simulation.SetScreen(Screen(std::vector{At(0, 0, 800, 600)}));
  Pass(&simulation, 1500);
  CHECK(simulation.Find(here)->x == 400);
  CHECK(simulation.Find(gone)->x <= 800);
  CHECK(simulation.Find(gone)->y == 600);
}

TEST_CASE("simulation › keeps a sprite that enters at a corner whole inside") {
  const std::vector<std::vector<Monitor>> desktops = {
      {At(0, 0, 800, 600)},
      {At(0, 0, 800, 600), At(800, 300, 1600, 900, 1.5)},
      {At(-1280, -720, 0, 0), At(0, 0, 1920, 1080, 2), At(1920, 0, 2420, 300)}};
  for (const auto& monitors : desktops) {
    for (const Edge edge : {Edge::kLeft, Edge::kRight, Edge::kTop, Edge::kBottom}) {
      for (const double at : {0.0, 0.33, 0.5, 0.999, 1.0}) {
        Simulation simulation = SimulationOf(monitors);
        Sprite added;
        added.nature = {44, 42, 60, 420, 1800, 0.5};
        added.next_ms = 1e9;
        const SpriteId id = simulation.Enter(added, {edge, at, 5000, -5000});
        CHECK(Pass(&simulation, 6000).empty());
        const Sprite& sprite = *simulation.Find(id);
        const Point middle{sprite.x, sprite.y - 10};
        CAPTURE(at);
        CAPTURE(sprite.x);
        CAPTURE(sprite.y);
        const auto& all = simulation.screen().monitors();
        CHECK(
            std::ranges::any_of(all, [&](const Monitor& m) { return m.bounds.Contains(middle); }));
      }
    }
  }
}

TEST_CASE("simulation › loses no sprite in an hour of random events on several monitors") {
  const char* given = std::getenv("SEED");
  const auto seed =
      given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device{}();
  INFO("SEED=" << seed);
  std::mt19937 engine(seed);
  const Random random = [&] { return std::uniform_real_distribution<double>(0, 1)(engine); };
  Simulation simulation =
      SimulationOf({At(0, 0, 1920, 1080), At(1920, 200, 3200, 920, 1.5), At(300, -600, 1100, 0)});
  simulation.SetCalm(false);
  std::vector<SpriteId> all;
  for (int i = 0; i < 20; i++) {
    all.push_back(Put(&simulation, random() * 3000, random() * 900));
    Sprite sprite = *simulation.Find(all.back());
    sprite.next_ms = 0;
    simulation.Put(sprite);
  }
  size_t away = 0;
  std::vector<Departure> out;
  for (int i = 0; i < 3600; i++) {
    const SpriteId id = all[static_cast<size_t>(random() * 20)];
    if (random() < 0.3) {
      simulation.ThrowTo(id, static_cast<Edge>(static_cast<int>(random() * 4)));
    }
    for (int frame = 0; frame < 10; frame++) {
      for (Departure& departure : simulation.Step(simulation.now_ms() + 100, random)) {
        out.push_back(std::move(departure));
      }
    }
    away = out.size();
    REQUIRE(simulation.sprites().size() + away == 20);
    while (!out.empty() && random() < 0.5) {
      simulation.BounceBack(out.back());
      out.pop_back();
    }
    for (const Sprite& sprite : simulation.sprites()) {
      REQUIRE(std::isfinite(sprite.x));
      REQUIRE(std::isfinite(sprite.y));
      REQUIRE(std::abs(sprite.x) < 10'000);
      REQUIRE(std::abs(sprite.y) < 10'000);
    }
  }
}

TEST_CASE("simulation › ignores ids that it does not have") {
  Simulation simulation = SimulationOf({At(0, 0, 800, 600)});
  simulation.Grab(7, {0, 0}, 0);
  CHECK(simulation.held() == kNobody);
  simulation.Drag({1, 1}, 1);
  simulation.Release(2);
  simulation.ThrowTo(7, Edge::kLeft);
  simulation.Steer(7, SteerKey::kJump, true);
  CHECK(simulation.steered() == kNobody);
  const SpriteId id = Put(&simulation, 400, 300);
  simulation.Grab(id, {400, 290}, 0);
  simulation.Remove(id);
  CHECK(simulation.held() == kNobody);
  simulation.Drag({1, 1}, 1);
  simulation.Release(2);
}

TEST_CASE(
    "simulation › the ground below a sprite is the highest surface under its foot, in reach") {
  Simulation simulation = SimulationOf({At(0, 0, 800, 600)});
  simulation.SetLedges({{100, 300, 400}, {200, 500, 450}});
  Sprite sprite;
  sprite.x = 250;
  sprite.y = 390;
  CHECK(!simulation.GroundBelow(sprite, 9));
  CHECK(simulation.GroundBelow(sprite, 10)->y == 400);
  CHECK(simulation.GroundBelow(sprite, 11)->left == 100);
  sprite.y = 400;  // it stands there
  CHECK(simulation.GroundBelow(sprite, 0)->y == 400);
  sprite.y = 401;
  CHECK(simulation.GroundBelow(sprite, 100)->y == 450);
  sprite.x = 501;
  CHECK(!simulation.GroundBelow(sprite, 198));
  const auto floor = simulation.GroundBelow(sprite, 199);
  REQUIRE(floor);
  CHECK(floor->y == 600);
  CHECK(floor->right == 800);
}

}  // namespace
}  // namespace sprites
