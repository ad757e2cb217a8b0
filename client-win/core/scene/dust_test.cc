#include "core/scene/dust.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace sprites {
namespace {

const Monitor kMonitor{{0, 0, 800, 600}, {0, 0, 800, 560}, 1, true};

std::vector<DrawnSprite> DrawnAt(Dust* dust, double ms) {
  std::vector<DrawnSprite> drawn;
  dust->Draw(ms, &drawn);
  return drawn;
}

// The most opaque pixel of what is shown.
int DensestOf(const DrawnSprite& drawn) {
  int densest = 0;
  const size_t first = size_t{4} * drawn.cell * drawn.height * drawn.width;
  for (size_t i = 0; i < size_t{4} * drawn.height * drawn.width; i += 4) {
    densest = std::max<int>(densest, drawn.sheet->rgba[first + i + 3]);
  }
  return densest;
}

TEST_CASE("dust › a puff rises from the ground, fades, and is gone at its end") {
  Dust dust;
  CHECK(DrawnAt(&dust, 0).empty());
  dust.Rise({400, 560}, 20, kMonitor, 1000);
  int before = 256;
  for (int step = 0; step < kPuffSteps; step++) {
    const auto drawn = DrawnAt(&dust, 1000 + (step + 0.5) * kPuffMs / kPuffSteps);
    REQUIRE(drawn.size() == 1);
    CHECK(drawn[0].cell == step);
    CHECK(drawn[0].x + drawn[0].width / 2 == 400);
    CHECK(drawn[0].y < 560);
    CHECK(drawn[0].y + drawn[0].height > 560);
    CHECK(DensestOf(drawn[0]) < before);
    before = DensestOf(drawn[0]);
  }
  CHECK(before > 0);
  CHECK(DrawnAt(&dust, 1000 + kPuffMs - 1).size() == 1);
  CHECK(DrawnAt(&dust, 1000 + kPuffMs).empty());
}

TEST_CASE("dust › says when a puff looks different next") {
  Dust dust;
  CHECK(dust.NextChangeMs(0) == std::numeric_limits<double>::max());
  dust.Rise({400, 560}, 20, kMonitor, 0);
  CHECK(dust.NextChangeMs(0) == doctest::Approx(30));
  CHECK(dust.NextChangeMs(40) == doctest::Approx(20));
  dust.Rise({400, 560}, 20, kMonitor, 35);
  CHECK(dust.NextChangeMs(40) == doctest::Approx(20));
  CHECK(dust.NextChangeMs(62) == doctest::Approx(3));
  dust.Settle();
  CHECK(dust.NextChangeMs(62) == std::numeric_limits<double>::max());
}

TEST_CASE("dust › puffs: one less than the limit, the limit; one more ends the oldest") {
  Dust dust;
  for (size_t i = 0; i < kPuffsMax + 1; i++) {
    dust.Rise({100.0 + static_cast<double>(i), 560}, 20, kMonitor, 0);
    const auto drawn = DrawnAt(&dust, 1);
    CHECK(drawn.size() == std::min(i + 1, kPuffsMax));
    std::set<SpriteId> ids;
    for (const DrawnSprite& puff : drawn) {
      ids.insert(puff.id);
    }
    CHECK(ids.size() == drawn.size());
  }
  CHECK(DrawnAt(&dust, 1).front().x + DrawnAt(&dust, 1).front().width / 2 == 101);
}

TEST_CASE("dust › reach: one less than the limit, the limit; more is not wider") {
  std::vector<int> widths;
  for (const double reach : {kPuffReachMax - 1, kPuffReachMax, kPuffReachMax + 1}) {
    Dust dust;
    dust.Rise({400, 560}, reach, kMonitor, 0);
    widths.push_back(DrawnAt(&dust, 0)[0].width);
  }
  CHECK(widths[0] < widths[1]);
  CHECK(widths[1] == widths[2]);
}

}  // namespace
}  // namespace sprites
