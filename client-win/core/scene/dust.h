// Puffs of dust, where sprites land hard or come in over an edge.
//
// Each is a picture with kPuffSteps cells that spreads and fades. Invariant: there are at most
// kPuffsMax. Cost: O(kPuffsMax) a frame; O(pixels) for the first puff of a size.
#ifndef CLIENT_WIN_CORE_SCENE_DUST_H_
#define CLIENT_WIN_CORE_SCENE_DUST_H_

#include <vector>

#include "core/scene/own_sheets.h"
#include "core/scene/scene.h"
#include "core/screen/geometry.h"

namespace sprites {

constexpr double kPuffMs = 420;           // as on the page
constexpr int kPuffSteps = 14;            // 30 ms each: 33 a second look smooth for so soft a thing
constexpr size_t kPuffsMax = 16;          // at once; the oldest goes first
constexpr double kPuffReachMax = 96;      // dip to each side: wider sprites raise no wider dust
constexpr double kArrivalPuffReach = 26;  // dip: of a sprite that comes in over an edge
constexpr SpriteId kFirstPuff = 0xFFFF'0000;  // ids of drawn puffs: above those of all sprites

class Dust {
 public:
  // Dust rises at a point of the ground, to so many dip at each side.
  void Rise(Point ground, double reach, const Monitor& monitor, double now_ms);
  // Adds the puffs that can be seen at `now_ms`, and forgets those that have ended.
  void Draw(double now_ms, std::vector<DrawnSprite>* drawn);
  // How long the puffs look as they do at `now_ms`; the largest value when there is none.
  double NextChangeMs(double now_ms) const;
  void Settle() { puffs_.clear(); }

 private:
  struct Puff {
    DrawnSprite drawn;
    double since_ms;
  };

  std::vector<Puff> puffs_;  // oldest first
  OwnSheets sheets_;
  SpriteId next_ = 0;  // from kFirstPuff on
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCENE_DUST_H_
