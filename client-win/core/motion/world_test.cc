// The rules are held by behaviour.vectors.json (vectors_test.cc); here is what only this client
// has: several monitors, their scales, and what comes and goes.
#include "core/motion/world.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

namespace sprites {
namespace {

Monitor At(double left, double top, double right, double bottom, double scale = 1) {
  const Rect all{left, top, right, bottom};
  return {all, all, scale, left == 0 && top == 0};
}

World WorldOf(const std::vector<Monitor>& monitors) {
  World world;
  world.SetScreen(Screen(monitors));
  world.SetCalm(true);  // nobody has a will of its own
  return world;
}

SpriteId Put(World* world, double x, double y) {
  Newcomer newcomer;
  newcomer.nature = {44, 42, 60, 420, 1800, 0.3};
  newcomer.place = {x, y};
  return world->Add(newcomer);
}

std::vector<Departure> Pass(World* world, double ms) {
  std::vector<Departure> left;
  const double end = world->now_ms() + ms;
  for (double now = world->now_ms(); now < end;) {
    now = std::min(now + 2 * kStepMs, end);
    for (Departure& departure : world->Step(now + 1e-6, [] { return 0.9; })) {
      left.push_back(std::move(departure));
    }
  }
  return left;
}

void Fling(World* world, SpriteId id, Point from, double vx, double vy) {
  world->Grab(id, from, 0);
  for (int ms = 20; ms <= 100; ms += 20) {
    world->Drag({from.x + vx * ms / 1000, from.y + vy * ms / 1000}, ms);
  }
  world->Release(100);
}

TEST_CASE("world › flies through to the next monitor, and leaves by the outer edge only") {
  World world = WorldOf({At(0, 0, 800, 600), At(800, 0, 1600, 600)});
  const SpriteId id = Put(&world, 400, 300);
  world.ThrowTo(id, Edge::kRight);
  bool was_on_second = false;
  std::vector<Departure> left;
  for (int i = 0; i < 200 && left.empty(); i++) {
    left = Pass(&world, 16);
    const Sprite* sprite = world.Find(id);
    was_on_second = was_on_second || (sprite != nullptr && sprite->monitor == 1);
  }
  CHECK(was_on_second);
  REQUIRE(left.size() == 1);
  CHECK(left[0].edge == Edge::kRight);
  CHECK(left[0].sprite.x > 1600);
}

TEST_CASE("world › leaves where no monitor adjoins at its height") {
  World world = WorldOf({At(0, 0, 800, 600), At(800, 400, 1600, 1000)});
  const SpriteId id = Put(&world, 700, 200);
  Fling(&world, id, {700, 180}, 2000, 0);
  const auto left = Pass(&world, 500);
  REQUIRE(left.size() == 1);
  CHECK(left[0].edge == Edge::kRight);
  CHECK(left[0].at < 0.4);
}

TEST_CASE(
    "world › walks from one monitor onto the other, steps up a low one and falls off a high one") {
  World world = WorldOf({At(0, 0, 800, 600), At(800, 0, 1600, 590), At(1600, 0, 2400, 900)});
  const SpriteId id = Put(&world, 780, 600);
  Pass(&world, 100);
  world.Steer(id, SteerKey::kRight, true);
  Pass(&world, 1500);
  const Sprite* sprite = world.Find(id);
  CHECK(sprite->y == 590);
  CHECK(sprite->monitor == 1);
  Pass(&world, 6000);
  world.Steer(id, SteerKey::kRight, false);
  Pass(&world, 2000);
  sprite = world.Find(id);
  CHECK(sprite->y == 900);
  CHECK(sprite->monitor == 2);
}

TEST_CASE("world › is as large and as fast on every monitor, in its own pixels") {
  World plain = WorldOf({At(0, 0, 800, 600)});
  World dense = WorldOf({At(0, 0, 1600, 1200, 2)});
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
  CHECK(dense.SpriteAt({dense.Find(b)->x + 43, dense.Find(b)->y - 1}, 0) == b);
  CHECK(plain.SpriteAt({plain.Find(a)->x + 43, plain.Find(a)->y - 1}, 0) == kNobody);
}

TEST_CASE("world › crosses with its own speed whatever the scale") {
  for (const double scale : {1.0, 1.25, 2.0}) {
    World world = WorldOf({At(-1920, 0, 0, 1080, scale)});
    const SpriteId id = Put(&world, -200, 400);
    Fling(&world, id, {-200, 380}, 1000 * scale, 0);
    const auto left = Pass(&world, 2000);
    CAPTURE(scale);
    REQUIRE(left.size() == 1);
    CHECK(left[0].vx == 1000);
  }
}

TEST_CASE("world › stands on a task bar and comes up from behind it") {
  Monitor monitor = At(0, 0, 800, 600);
  monitor.work.bottom = 560;
  World world = WorldOf({monitor});
  const SpriteId id = Put(&world, 400, 100);
  Pass(&world, 2000);
  CHECK(world.Find(id)->y == 560);
  Sprite newcomer;
  newcomer.nature = {44, 42, 60, 420, 1800, 0};
  newcomer.next_ms = 1e9;
  const SpriteId from_below = world.Enter(newcomer, {Edge::kBottom, 0.2, 0, 0});
  double highest = 600;
  for (int i = 0; i < 100; i++) {
    Pass(&world, 16);
    highest = std::min(highest, world.Find(from_below)->y);
  }
  CHECK(highest < 560 - 0.9 * 42);
  CHECK(world.Find(from_below)->y == 560);
}

TEST_CASE("world › puts everybody on what is left when a monitor is unplugged") {
  World world = WorldOf({At(0, 0, 800, 600), At(800, -400, 1600, 200)});
  const SpriteId here = Put(&world, 400, 600);
  const SpriteId gone = Put(&world, 1200, 200);
  Pass(&world, 100);
  world.SetScreen(Screen(std::vector{At(0, 0, 800, 600)}));
  Pass(&world, 1500);
  CHECK(world.Find(here)->x == 400);
  CHECK(world.Find(gone)->x <= 800);
  CHECK(world.Find(gone)->y == 600);
}

TEST_CASE("world › comes in whole at the corners of every desktop, and stays") {
  const std::vector<std::vector<Monitor>> desktops = {
      {At(0, 0, 800, 600)},
      {At(0, 0, 800, 600), At(800, 300, 1600, 900, 1.5)},
      {At(-1280, -720, 0, 0), At(0, 0, 1920, 1080, 2), At(1920, 0, 2420, 300)}};
  for (const auto& monitors : desktops) {
    for (const Edge edge : {Edge::kLeft, Edge::kRight, Edge::kTop, Edge::kBottom}) {
      for (const double at : {0.0, 0.33, 0.5, 0.999, 1.0}) {
        World world = WorldOf(monitors);
        Sprite newcomer;
        newcomer.nature = {44, 42, 60, 420, 1800, 0.5};
        newcomer.next_ms = 1e9;
        const SpriteId id = world.Enter(newcomer, {edge, at, 5000, -5000});
        CHECK(Pass(&world, 6000).empty());
        const Sprite& sprite = *world.Find(id);
        const Point middle{sprite.x, sprite.y - 10};
        CAPTURE(at);
        CAPTURE(sprite.x);
        CAPTURE(sprite.y);
        const auto& all = world.screen().monitors();
        CHECK(
            std::ranges::any_of(all, [&](const Monitor& m) { return m.bounds.Contains(middle); }));
      }
    }
  }
}

TEST_CASE("world › loses nobody in an hour of everything on several monitors") {
  const char* given = std::getenv("SEED");
  const auto seed =
      given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device{}();
  INFO("SEED=" << seed);
  std::mt19937 engine(seed);
  const Random random = [&] { return std::uniform_real_distribution<double>(0, 1)(engine); };
  World world =
      WorldOf({At(0, 0, 1920, 1080), At(1920, 200, 3200, 920, 1.5), At(300, -600, 1100, 0)});
  world.SetCalm(false);
  std::vector<SpriteId> all;
  for (int i = 0; i < 20; i++) {
    all.push_back(Put(&world, random() * 3000, random() * 900));
    Sprite sprite = *world.Find(all.back());
    sprite.next_ms = 0;
    world.Put(sprite);
  }
  size_t away = 0;
  std::vector<Departure> out;
  for (int i = 0; i < 3600; i++) {
    const SpriteId id = all[static_cast<size_t>(random() * 20)];
    if (random() < 0.3) {
      world.ThrowTo(id, static_cast<Edge>(static_cast<int>(random() * 4)));
    }
    for (int frame = 0; frame < 10; frame++) {
      for (Departure& departure : world.Step(world.now_ms() + 100, random)) {
        out.push_back(std::move(departure));
      }
    }
    away = out.size();
    REQUIRE(world.sprites().size() + away == 20);
    while (!out.empty() && random() < 0.5) {
      world.BounceBack(out.back());
      out.pop_back();
    }
    for (const Sprite& sprite : world.sprites()) {
      REQUIRE(std::isfinite(sprite.x));
      REQUIRE(std::isfinite(sprite.y));
      REQUIRE(std::abs(sprite.x) < 10'000);
      REQUIRE(std::abs(sprite.y) < 10'000);
    }
  }
}

TEST_CASE("world › holds nobody it does not have") {
  World world = WorldOf({At(0, 0, 800, 600)});
  world.Grab(7, {0, 0}, 0);
  CHECK(world.held() == kNobody);
  world.Drag({1, 1}, 1);
  world.Release(2);
  world.ThrowTo(7, Edge::kLeft);
  world.Steer(7, SteerKey::kJump, true);
  CHECK(world.steered() == kNobody);
  const SpriteId id = Put(&world, 400, 300);
  world.Grab(id, {400, 290}, 0);
  world.Remove(id);
  CHECK(world.held() == kNobody);
  world.Drag({1, 1}, 1);
  world.Release(2);
}

}  // namespace
}  // namespace sprites
