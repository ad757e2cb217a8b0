// One sprite: who it is, where it is, and what it is doing.
//
// Units: x is the middle and y the foot of its hitbox, in pixels of the virtual screen; speeds in
// dip/s; times in ms of the world's clock. Its nature is in dip, already at its own scale.
#ifndef CLIENT_WIN_CORE_MOTION_SPRITE_H_
#define CLIENT_WIN_CORE_MOTION_SPRITE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/screen/geometry.h"

namespace sprites {

enum class Facing : uint8_t { kLeft, kRight };

// What it is doing. behaviour.h has a row of rules for each.
enum class Mode : uint8_t { kIdle, kWalk, kFall, kDrag, kLand, kClimb, kSleep };
constexpr size_t kModes = 7;

// Never 0; never used twice while the program runs.
using SpriteId = uint32_t;
constexpr SpriteId kNobody = 0;

// What a sprite is like.
struct Nature {
  double width = 64;   // dip: of its hitbox
  double height = 64;  // dip
  double walk_speed = 60;
  double jump_speed = 420;
  double gravity = 1800;  // dip/s²
  double bounce = 0.3;    // part of its speed

  bool operator==(const Nature&) const = default;
};

struct Sprite {
  SpriteId id = kNobody;
  std::string file;  // SHA-256 of its .spr, 64 lowercase hex digits
  std::string name;
  double scale = 1;         // as a crossing carries it
  bool from_shelf = false;  // of this desktop, and so able to go back; others belong to the world
  Nature nature;
  double x = 0;
  double y = 0;
  double vx = 0;
  double vy = 0;
  Facing facing = Facing::kRight;
  Mode mode = Mode::kFall;
  double since_ms = 0;         // when `mode` began
  double next_ms = 0;          // when it will do something else by itself
  double touched_ms = 0;       // when somebody last had to do with it
  bool thrown = false;         // in flight since somebody let go of it: may cross
  bool through_floor = false;  // thrown downwards so hard that the floor does not hold it
  size_t monitor = 0;          // the last one its middle was on
};

// Leaving: what a crossing says about movement.
struct Departure {
  Sprite sprite;
  Edge edge = Edge::kRight;
  double at = 0.5;  // 0 … 1 from the left or the top
  double vx = 0;    // dip/s, whole numbers
  double vy = 0;
};

// Coming in by `edge`.
struct Entrance {
  Edge edge = Edge::kLeft;
  double at = 0.5;
  double vx = 0;
  double vy = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_MOTION_SPRITE_H_
