// What a desktop full of sprites costs the windows that show it.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "core/desktop/desktop.h"
#include "core/scene/window_planner.h"
#include "test/core/test_spr.h"

namespace sprites {
namespace {

constexpr int kPicturesASecond = 4;

// 150 sprites on a desktop of one monitor, whose floor has room for all of them.
std::unique_ptr<Desktop> FullDesktop(const Random& random) {
  Settings settings;
  settings.sprite_limit = 150;
  settings.calm = true;
  auto filled = std::make_unique<Desktop>(settings, random);
  Desktop& desktop = *filled;
  const Rect screen{0, 0, 1920, 1080};
  desktop.look().SetMonitors(std::vector<Monitor>{{screen, screen, 1, true}});
  Json description = UsualDescription(8, 8);
  description["animations"]["idle"] = {{"frames", {0, 1}}, {"fps", kPicturesASecond}};
  const SheetPointer sheet = ReadSheet(TestSpr(16, 8, description));
  desktop.look().AddToShelf(sheet);
  for (int i = 0; i < 150; i++) {
    desktop.sprites().DropIn(sheet->file, Point{random() * 1920, 100 + random() * 900});
  }
  return filled;
}

TEST_CASE(
    "crowd › 150 sprites in the air cost at most one change each, and are restacked one by one") {
  std::mt19937 engine(1);
  const Random random = [&] { return std::uniform_real_distribution<double>(0, 1)(engine); };
  const auto filled = FullDesktop(random);
  Desktop& desktop = *filled;
  WindowPlanner planner;
  planner.Plan(desktop.Tick(0).sprites);
  size_t restacked = 0;
  size_t came_back = 0;  // bounced throws, which are drawn on top from then on
  for (int frame = 1; frame <= 600; frame++) {
    if (frame % 30 == 1) {
      for (const Sprite& sprite : std::vector<Sprite>(desktop.simulation().sprites())) {
        desktop.sprites().ThrowTo(sprite.id, static_cast<Edge>(engine() % 3));
      }
    }
    const WindowPlan& plan = planner.Plan(desktop.Tick(frame * 50 / 3).sprites);
    came_back += std::ranges::count(desktop.PopOutbox().sounds, Sound::kReturn);
    restacked += std::ranges::count_if(plan.placements,
                                       [](const Placement& p) { return p.below.has_value(); });
    const auto moved =
        std::ranges::count_if(plan.placements, [](const Placement& p) { return p.moves; });
    CHECK(plan.painted.size() + static_cast<size_t>(moved) <= 150);
    CHECK((plan.created.empty() && plan.closed.empty()));
  }
  CHECK(restacked > 0);
  CHECK(restacked <= came_back);
}

TEST_CASE("crowd › 150 sprites at rest cost only their next pictures") {
  std::mt19937 engine(1);
  const Random random = [&] { return std::uniform_real_distribution<double>(0, 1)(engine); };
  const auto filled = FullDesktop(random);
  Desktop& desktop = *filled;
  WindowPlanner planner;
  int now_ms = 0;
  // Until the crowd has slid apart, except for a pixel now and then.
  while (now_ms < 120'000) {
    planner.Plan(desktop.Tick(now_ms += 16).sprites);
  }
  size_t painted = 0;
  size_t placed = 0;
  for (int frame = 0; frame < 60; frame++) {
    const WindowPlan& plan = planner.Plan(desktop.Tick(now_ms += 16).sprites);
    painted += plan.painted.size();
    placed += plan.placements.size();
  }
  CHECK(painted <= 150 * kPicturesASecond);
  CHECK(placed <= 60);  // 9000 would be every sprite in every frame
}

}  // namespace
}  // namespace sprites
