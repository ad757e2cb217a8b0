#include "core/scene/window_planner.h"

#include <algorithm>

namespace sprites {

namespace {

constexpr size_t kNone = SIZE_MAX;

bool IsSamePicture(const DrawnSprite& one, const DrawnSprite& other) {
  return one.sheet == other.sheet && one.cell == other.cell && one.width == other.width &&
         one.height == other.height && one.mirrored == other.mirrored;
}

bool DoesSomething(const Placement& placement) {
  return placement.moves || placement.below || placement.appears || placement.disappears;
}

}  // namespace

const WindowPlan& WindowPlanner::Plan(const Scene& scene) {
  plans_++;
  plan_.closed.clear();
  plan_.created.clear();
  plan_.painted.clear();
  plan_.placements.assign(scene.sprites.size(), {});
  for (size_t i = 0; i < scene.sprites.size(); i++) {
    PlanOne(scene, i);
  }
  CloseMissing(scene);
  Restack(scene);
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

void WindowPlanner::PlanOne(const Scene& scene, size_t index) {
  const DrawnSprite& drawn = scene.sprites[index];
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
    placement.moves = true;
    placement.x = shown.drawn.x = drawn.x;
    placement.y = shown.drawn.y = drawn.y;
  }
  placement.appears = drawn.visible && !shown.is_visible;
  placement.disappears = !drawn.visible && shown.is_visible;
  shown.is_visible = drawn.visible;
}

void WindowPlanner::CloseMissing(const Scene& scene) {
  if (shown_.size() == scene.sprites.size()) {
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
void WindowPlanner::Restack(const Scene& scene) {
  const auto id_of = [](const DrawnSprite& drawn) { return drawn.id; };
  if (std::ranges::equal(scene.sprites, order_, {}, id_of)) {
    return;
  }
  std::unordered_map<SpriteId, size_t> wanted;
  for (size_t i = 0; i < scene.sprites.size(); i++) {
    wanted[scene.sprites[i].id] = i;
  }
  std::vector<size_t> now(order_.size());
  std::ranges::transform(order_, now.begin(), [&](SpriteId id) { return wanted[id]; });
  std::vector<bool> stays(now.size(), false);
  for (const size_t index : LongestRising(now)) {
    stays[now[index]] = true;
  }
  for (size_t i = 0; i < scene.sprites.size(); i++) {
    if (!stays[i]) {
      plan_.placements[i].below = i + 1 < scene.sprites.size() ? scene.sprites[i + 1].id : kNobody;
    }
    order_[i] = scene.sprites[i].id;
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
