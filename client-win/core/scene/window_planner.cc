#include "core/scene/window_planner.h"

#include <algorithm>

namespace sprites {

namespace {

constexpr size_t kNone = SIZE_MAX;

bool IsSamePicture(const DrawnSprite& one, const DrawnSprite& other) {
  return one.sheet == other.sheet && one.cell == other.cell && one.width == other.width &&
         one.height == other.height && one.mirrored == other.mirrored &&
         one.is_silhouette == other.is_silhouette && one.opacity == other.opacity &&
         one.crop == other.crop && one.under == other.under;
}

bool DoesSomething(const Placement& placement) {
  return placement.moves || placement.below || placement.appears || placement.disappears;
}

}  // namespace

const WindowPlan& WindowPlanner::Plan(std::span<const DrawnSprite> sprites) {
  plans_++;
  plan_.closed.clear();
  plan_.created.clear();
  plan_.painted.clear();
  plan_.placements.assign(sprites.size(), {});
  for (size_t i = 0; i < sprites.size(); i++) {
    PlanOne(sprites[i], i);
  }
  CloseMissing(sprites.size());
  Restack(sprites);
  // From the top down, so that the window above is in place before the one below it.
  std::ranges::reverse(plan_.placements);
  std::erase_if(plan_.placements,
                [](const Placement& placement) { return !DoesSomething(placement); });
  return plan_;
}

void WindowPlanner::NotPainted(SpriteId id) {
  if (const auto shown = shown_.find(id); shown != shown_.end()) {
    shown->second.is_painted = false;
  }
}

const DrawnSprite* WindowPlanner::Find(SpriteId id) const {
  const auto shown = shown_.find(id);
  return shown == shown_.end() ? nullptr : &shown->second.drawn;
}

void WindowPlanner::PlanOne(const DrawnSprite& drawn, size_t index) {
  Placement& placement = plan_.placements[index];
  placement.id = drawn.id;
  const auto [found, is_new] = shown_.try_emplace(drawn.id);
  Shown& shown = found->second;
  shown.seen = plans_;
  if (is_new) {
    plan_.created.push_back(drawn.id);
    order_.push_back(drawn.id);
  }
  if (drawn.visible && !(shown.is_painted && IsSamePicture(shown.drawn, drawn))) {
    plan_.painted.push_back(index);
    shown.drawn = drawn;
    shown.is_painted = true;
  } else if (drawn.visible && (shown.drawn.x != drawn.x || shown.drawn.y != drawn.y)) {
    shown.drawn.x = drawn.x;
    shown.drawn.y = drawn.y;
    placement.moves = true;
    placement.x = drawn.Left();
    placement.y = drawn.Top();
  }
  placement.appears = drawn.visible && !shown.is_visible;
  placement.disappears = !drawn.visible && shown.is_visible;
  shown.is_visible = drawn.visible;
}

void WindowPlanner::CloseMissing(size_t count) {
  if (shown_.size() == count) {
    return;
  }
  std::erase_if(order_, [this](SpriteId id) { return shown_[id].seen != plans_; });
  std::erase_if(shown_, [this](const auto& one) {
    const bool is_missing = one.second.seen != plans_;
    if (is_missing) {
      plan_.closed.push_back(one.first);
    }
    return is_missing;
  });
}

// Moves only the windows that are out of order, each directly below the one that is drawn after it.
void WindowPlanner::Restack(std::span<const DrawnSprite> sprites) {
  const auto id_of = [](const DrawnSprite& drawn) { return drawn.id; };
  if (std::ranges::equal(sprites, order_, {}, id_of)) {
    return;
  }
  std::unordered_map<SpriteId, size_t> wanted;
  for (size_t i = 0; i < sprites.size(); i++) {
    wanted[sprites[i].id] = i;
  }
  std::vector<size_t> now(order_.size());
  std::ranges::transform(order_, now.begin(), [&](SpriteId id) { return wanted[id]; });
  std::vector<bool> stays(now.size(), false);
  for (const size_t index : LongestRising(now)) {
    stays[now[index]] = true;
  }
  for (size_t i = 0; i < sprites.size(); i++) {
    if (!stays[i]) {
      plan_.placements[i].below = i + 1 < sprites.size() ? sprites[i + 1].id : kNobody;
    }
    order_[i] = sprites[i].id;
  }
}

std::vector<size_t> LongestRising(const std::vector<size_t>& numbers) {
  std::vector<size_t> ends;  // [k]: the index of the lowest number that ends a rising run of k + 1
  std::vector<size_t> before(numbers.size(), kNone);
  for (size_t i = 0; i < numbers.size(); i++) {
    const auto end = std::ranges::lower_bound(ends, numbers[i], {},
                                              [&](size_t index) { return numbers[index]; });
    before[i] = end == ends.begin() ? kNone : *(end - 1);
    if (end == ends.end()) {
      ends.push_back(i);
    } else {
      *end = i;
    }
  }
  std::vector<size_t> rising;
  for (size_t i = ends.empty() ? kNone : ends.back(); i != kNone; i = before[i]) {
    rising.push_back(i);
  }
  std::ranges::reverse(rising);
  return rising;
}

}  // namespace sprites
