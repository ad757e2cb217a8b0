#include "core/scene/dust.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace sprites {

namespace {

// Pale, with a touch of lilac: it is seen on dark windows and on light ones.
constexpr uint8_t kDustColour[] = {206, 199, 232};  // red, green, blue
constexpr double kDustAlpha = 0.7;                  // at first
constexpr double kRise = 14;                        // dip that the highest cloud rises
constexpr double kLift = 3;                         // dip from the ground to the middle of a cloud
constexpr double kSpreadFirst = 0.6;                // of the reach
constexpr double kSpreadMore = 0.7;
constexpr double kSizeFirst = 0.6;  // of a cloud's size
constexpr double kSizeMore = 0.6;

// Where a cloud is to the side, how high it rises, and its radius in dip: as on the page.
struct Cloud {
  double side;
  double rise;
  double size;
};
constexpr Cloud kClouds[] = {{-1, 0.5, 5},  {-0.6, 1, 3.5},   {-0.15, 0.4, 4},
                             {0.3, 0.9, 3}, {0.65, 0.6, 4.5}, {1, 0.3, 4}};
constexpr double kLargest = 5;

constexpr double kAbove = kLift + kRise + kLargest * (kSizeFirst + kSizeMore) + 1;  // dip
constexpr double kBelow = 4;                                                        // dip

// Covers the pixels of a disc, smooth at its rim. Those that are covered more stay so.
void AddDisc(Point middle, double radius, uint8_t alpha, int width, int top, int bottom,
             Bytes* rgba) {
  const auto first = [](double value) { return static_cast<int>(std::floor(value)); };
  const int left = std::max(0, first(middle.x - radius));
  const int right = std::min(width, first(middle.x + radius) + 2);
  for (int y = std::max(top, first(middle.y - radius));
       y < std::min(bottom, first(middle.y + radius) + 2); y++) {
    for (int x = left; x < right; x++) {
      const double from_rim = radius - std::hypot(x + 0.5 - middle.x, y + 0.5 - middle.y);
      const double covered = std::clamp(from_rim + 0.5, 0.0, 1.0);
      uint8_t& pixel = (*rgba)[4 * (static_cast<size_t>(y) * static_cast<size_t>(width) +
                                    static_cast<size_t>(x)) +
                               3];
      pixel = std::max(pixel, static_cast<uint8_t>(std::lround(covered * alpha)));
    }
  }
}

// One column of cells, one for each age.
SheetPointer PuffSheet(double reach, double scale, int width, int height) {
  auto sheet = NewColumn("Dust", width, height, kPuffSteps);
  const size_t pixels = static_cast<size_t>(width) * static_cast<size_t>(sheet->height);
  for (size_t i = 0; i < pixels; i++) {
    sheet->rgba.insert(sheet->rgba.end(), {kDustColour[0], kDustColour[1], kDustColour[2], 0});
  }
  for (int cell = 0; cell < kPuffSteps; cell++) {
    const double age = (cell + 0.5) / kPuffSteps;
    const double spread = 1 - (1 - age) * (1 - age);  // fast at first
    const auto alpha = static_cast<uint8_t>(std::lround(255 * kDustAlpha * std::pow(1 - age, 1.5)));
    const int top = cell * height;
    for (const Cloud& cloud : kClouds) {
      const Point middle{
          width / 2.0 + cloud.side * reach * (kSpreadFirst + kSpreadMore * spread) * scale,
          top + (kAbove - kLift - cloud.rise * kRise * spread) * scale};
      const double radius = cloud.size * (kSizeFirst + kSizeMore * spread) * scale;
      AddDisc(middle, radius, alpha, width, top, top + height, &sheet->rgba);
    }
  }
  return sheet;
}

int StepAt(double age_ms) { return static_cast<int>(age_ms * kPuffSteps / kPuffMs); }

}  // namespace

void Dust::Rise(Point ground, double reach, const Monitor& monitor, double now_ms) {
  const double whole_reach = std::round(std::min(reach, kPuffReachMax));
  const double scale = monitor.scale;
  const double side = whole_reach * (kSpreadFirst + kSpreadMore) + kLargest * 1.2 + 1;
  DrawnSprite drawn;
  drawn.id = kFirstPuff + next_++ % (2 * kPuffsMax);
  drawn.width = 2 * static_cast<int>(std::ceil(side * scale));
  drawn.height = static_cast<int>(std::ceil((kAbove + kBelow) * scale));
  drawn.sheet = sheets_.Find({drawn.width, drawn.height}, [&] {
    return PuffSheet(whole_reach, scale, drawn.width, drawn.height);
  });
  drawn.x = static_cast<int>(std::lround(ground.x)) - drawn.width / 2;
  drawn.y = static_cast<int>(std::lround(ground.y - kAbove * scale));
  if (puffs_.size() >= kPuffsMax) {
    puffs_.erase(puffs_.begin());
  }
  puffs_.push_back({std::move(drawn), now_ms});
}

void Dust::Draw(double now_ms, std::vector<DrawnSprite>* drawn) {
  std::erase_if(puffs_, [&](const Puff& puff) { return now_ms - puff.since_ms >= kPuffMs; });
  for (Puff& puff : puffs_) {
    puff.drawn.cell = std::clamp(StepAt(now_ms - puff.since_ms), 0, kPuffSteps - 1);
    drawn->push_back(puff.drawn);
  }
}

double Dust::NextChangeMs(double now_ms) const {
  double next = std::numeric_limits<double>::max();
  for (const Puff& puff : puffs_) {
    const double age = std::max(0.0, now_ms - puff.since_ms);
    next = std::min(next, (StepAt(age) + 1) * kPuffMs / kPuffSteps - age);
  }
  return next;
}

}  // namespace sprites
