// The sprites of the neighbour that this desktop watches, and where they are between two of its
// stages.
//
// Each sprite moves on with its velocity. When a stage has it elsewhere, it glides there. Only a
// sprite that is far away jumps. Source: BEHAVIOUR.md, "Peeking", whose vectors this plays.
// Units: dip of this desktop, ms. Cost: O(sprites) ≤ kStageSpritesMax.
#ifndef CLIENT_WIN_CORE_DESKTOP_SILHOUETTES_H_
#define CLIENT_WIN_CORE_DESKTOP_SILHOUETTES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/relay/batch.h"
#include "wire/rules.h"

namespace sprites {

constexpr int64_t kSilenceMs = rules::kStageSilenceMs;  // after the last stage
constexpr int64_t kPredictedMs = 2'500;  // that a sprite moves on: just above kStageAliveMs
constexpr double kGlideMs = 120;         // in which it goes two thirds of the way to its place
constexpr double kJumpDip = 240;         // dip: a sprite farther from its place jumps there

struct DipSize {
  double width = 1;
  double height = 1;
};

struct Silhouette {
  uint32_t id = 0;         // in the stage
  SpriteId key = kNobody;  // on this desktop; kept while it is shown
  std::string file;
  Mode animation = Mode::kIdle;
  Facing facing = Facing::kRight;
  double scale = 1;
  int64_t since_ms = 0;  // since when it has this animation
  Point place;           // the middle of its feet, beyond the edge of this desktop
};

class Silhouettes {
 public:
  // Handles a stage. One without a sender ends what is shown through its edge.
  void Receive(const StageEvent& event, int64_t now_ms);
  void Clear();
  // Where the sprites are now, seen from a desktop of this size, in the order of the stage. Empty
  // when no stage has come for kSilenceMs.
  std::vector<Silhouette> At(int64_t now_ms, const DipSize& here);

  // Whose sprites these are, and beyond which edge; nothing when nothing is shown.
  const std::optional<Neighbour>& from() const { return from_; }
  std::optional<Edge> edge() const { return edge_; }

 private:
  struct Moving {
    StageSprite sprite;
    std::string file;
    SpriteId key;
    int64_t since_ms;
    int64_t at_ms;  // when it was at the place of `sprite`
    Point off;      // how far from there it was drawn when the stage came, at off_ms
    int64_t off_ms;
  };

  Point Drawn(const Moving& moving, int64_t now_ms) const;

  std::optional<Neighbour> from_;
  std::optional<Edge> edge_;
  DipSize theirs_;
  int64_t received_ms_ = 0;
  std::vector<Moving> sprites_;
  SpriteId next_key_ = 1;
};

// Converts a point of the desktop beyond an edge to this one's coordinates. Along the edge it keeps
// its share of the length.
Point SeenFrom(Edge edge, Point point, const DipSize& theirs, const DipSize& here);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_SILHOUETTES_H_
