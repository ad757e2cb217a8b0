// What is left to do to the windows of sprites so that they show a scene: nothing for a sprite that
// looks, lies and is stacked as it was.
//
// One window a sprite. The shell carries a plan out in its order: end, make, paint, then all that
// is placed in one batch. Invariant: once a plan is carried out, the windows show its scene.
// Cost: O(n log n) for n sprites, no system call.
#ifndef CLIENT_WIN_CORE_SCENE_WINDOW_PLANNER_H_
#define CLIENT_WIN_CORE_SCENE_WINDOW_PLANNER_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/scene/scene.h"

namespace sprites {

// A window that has to go elsewhere: to another place, another height in the stack, on or off the
// screen.
struct Placement {
  SpriteId id = kNobody;
  bool moves = false;
  int x = 0;
  int y = 0;
  // Whose window lies right above it from now on; kNobody: no other sprite's. Empty: it stays.
  std::optional<SpriteId> below;
  bool appears = false;
  bool disappears = false;

  bool operator==(const Placement&) const = default;
};

struct WindowPlan {
  std::vector<SpriteId> closed;   // their windows end
  std::vector<SpriteId> created;  // theirs are created, unseen, each on top of those before
  std::vector<size_t> painted;  // indices in the scene: the picture is another, or it is elsewhere
  std::vector<Placement> placements;  // in this order, for one may be below another of them

  bool IsEmpty() const {
    return closed.empty() && created.empty() && painted.empty() && placements.empty();
  }
};

class WindowPlanner {
 public:
  // What is left to do; from then on it counts as done.
  const WindowPlan& Plan(const Scene& scene);
  // It could not be painted after all: the next plan paints it.
  void NotPainted(SpriteId id);

 private:
  struct Shown {
    DrawnSprite drawn;
    bool is_painted = false;  // `drawn` is what its window shows
    bool is_visible = false;
    uint64_t seen = 0;  // the plan it was last in
  };

  void EndUnseen(const Scene& scene);
  void PlanOne(const Scene& scene, size_t index);
  void Restack(const Scene& scene);

  WindowPlan plan_;
  std::unordered_map<SpriteId, Shown> shown_;
  std::vector<SpriteId> order_;  // as the windows are stacked, lowest first
  uint64_t plans_ = 0;
};

// Which of these numbers may stay where they are so that the fewest others must move to make them
// rise: the indices of a longest rising subsequence, rising. Numbers differ. O(n log n).
std::vector<size_t> LongestRising(const std::vector<size_t>& numbers);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCENE_WINDOW_PLANNER_H_
