// Plans the changes that make the windows of the sprites show a scene: none for a sprite whose
// picture, place and height in the stack are unchanged.
//
// There is one window a sprite. The shell carries a plan out in this order: close, create, paint,
// then all placements in one batch. Invariant: once a plan is carried out, the windows show its
// scene. Cost: O(n log n) for n sprites, no system call.
#ifndef CLIENT_WIN_CORE_SCENE_WINDOW_PLANNER_H_
#define CLIENT_WIN_CORE_SCENE_WINDOW_PLANNER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/scene/scene.h"

namespace sprites {

// What changes of a window besides its picture: its place, its height in the stack, or whether it
// is visible.
struct Placement {
  SpriteId id = kNobody;
  bool moves = false;
  int x = 0;
  int y = 0;
  // The sprite whose window is directly above it from now on; kNobody when it becomes the topmost.
  // Empty when its height stays.
  std::optional<SpriteId> below;
  bool appears = false;
  bool disappears = false;

  bool operator==(const Placement&) const = default;
};

struct WindowPlan {
  std::vector<SpriteId> closed;
  std::vector<SpriteId> created;  // hidden at first, each on top of those before
  // Indices of the sprites whose picture changed. Painting sets the place too.
  std::vector<size_t> painted;
  std::vector<Placement> placements;  // in this order, because one may refer to another before it

  bool IsEmpty() const {
    return closed.empty() && created.empty() && painted.empty() && placements.empty();
  }
};

class WindowPlanner {
 public:
  // The changes that make the windows show `sprites`, lowest first. The planner assumes that they
  // are carried out. Valid until the next call.
  const WindowPlan& Plan(std::span<const DrawnSprite> sprites);
  // A sprite could not be painted: the next plan paints it.
  void NotPainted(SpriteId id);
  // What the window of a sprite shows, where it is; null when it has none.
  const DrawnSprite* Find(SpriteId id) const;

 private:
  struct Shown {
    DrawnSprite drawn;
    bool is_painted = false;  // `drawn` is what its window shows
    bool is_visible = false;
    uint64_t seen = 0;  // the number of the last plan that had it
  };

  void CloseMissing(size_t count);
  void PlanOne(const DrawnSprite& drawn, size_t index);
  void Restack(std::span<const DrawnSprite> sprites);

  WindowPlan plan_;
  std::unordered_map<SpriteId, Shown> shown_;
  std::vector<SpriteId> order_;  // as the windows are stacked, lowest first
  uint64_t plans_ = 0;
};

// The indices, rising, of a longest rising subsequence: the most numbers that can stay in place
// while the others move to sort them. REQUIRES: the numbers differ. Cost: O(n log n).
std::vector<size_t> LongestRising(const std::vector<size_t>& numbers);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCENE_WINDOW_PLANNER_H_
