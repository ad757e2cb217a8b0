// What a desktop has shown in the last seconds: which picture was where, not how that looked.
//
// Invariant: it has at most kFilmBytesMax; the oldest moments go first. A sheet that is in it stays
// in memory, for kFilmMs and a turn after its sprite has left.
// Cost: a comparison for a scene like the one before, which is all while sprites stand still;
// otherwise a copy of what is seen in it. Units: ms of the desktop's clock.
#ifndef CLIENT_WIN_CORE_SCENE_FILM_H_
#define CLIENT_WIN_CORE_SCENE_FILM_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/scene/scene.h"

namespace sprites {

constexpr int64_t kFilmMs = 5'000;    // as on the page: a throw, and what came back
constexpr int64_t kFilmFrameMs = 50;  // between two moments: whole hundredths of a second in a GIF
constexpr size_t kFilmBytesMax =      // bytes: a hundred moments with 150 sprites and shadows
    size_t{100} * 2 * 150 * sizeof(DrawnSprite);

// What was seen from `at_ms` until the next moment.
struct Moment {
  int64_t at_ms = 0;               // a multiple of kFilmFrameMs
  std::vector<DrawnSprite> drawn;  // lowest first: what lies on the ground, then the sprites
};

class Film {
 public:
  void Keep(const Scene& scene, int64_t now_ms);
  // Oldest first. The oldest one may have begun more than kFilmMs ago.
  const std::deque<Moment>& moments() const { return moments_; }

 private:
  void DropOldest();

  std::deque<Moment> moments_;
  size_t drawn_ = 0;  // in all moments
};

// What can be seen of a scene, lowest first: without bubbles, and without what is beyond an edge.
std::vector<DrawnSprite> SeenIn(const Scene& scene);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCENE_FILM_H_
