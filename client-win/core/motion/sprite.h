// One sprite: its identity, its place, and what it is doing.
//
// Units: x is the middle and y the foot of its hitbox, in pixels of the virtual screen; speeds in
// dip/s; times in ms of the simulation's clock. Its nature is in dip, at its own scale.
#ifndef CLIENT_WIN_CORE_MOTION_SPRITE_H_
#define CLIENT_WIN_CORE_MOTION_SPRITE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/screen/geometry.h"

namespace sprites {

enum class Facing : uint8_t { kLeft, kRight };

// What a sprite is doing. behaviour.h has a row of rules for each mode.
enum class Mode : uint8_t {
  kIdle,
  kWalk,
  kFall,
  kDrag,
  kLand,
  kClimb,
  kSleep,
  kSit,
  kHang,
  kPet,
  kYawn,
  kLook,
  kWave,
  kGreet,
};
constexpr size_t kModes = 14;

// Unique while the program runs; kNobody is no sprite.
using SpriteId = uint32_t;
constexpr SpriteId kNobody = 0;

// The physical properties of a sprite.
struct Nature {
  double width = 64;   // dip: of its hitbox
  double height = 64;  // dip
  double walk_speed = 60;
  double jump_speed = 420;
  double gravity = 1800;     // dip/s²
  double bounce = 0.3;       // fraction of its speed that a bounce keeps
  double hop_chance = 0.12;  // that it hops instead of walking

  bool operator==(const Nature&) const = default;
};

// How often a sprite was thrown, since when, who drew it, and who threw it last: as desktops have
// written it, so it is shown and not believed. None when `hops` is 0.
struct Journey {
  int64_t hops = 0;
  int64_t since_s = 0;  // since 1970
  std::string by;
  std::vector<std::string> from;  // the newest last

  bool operator==(const Journey&) const = default;
};

// What a sprite keeps wherever it goes, so what a crossing carries of it.
// core/relay/crossings/edges.cc reads and writes it.
struct Carried {
  std::string file;  // SHA-256 of its .spr, 64 lowercase hex digits
  std::string name;
  double scale = 1;
  Facing facing = Facing::kRight;
  Journey journey;  // before its next throw
};

struct Sprite : Carried {
  SpriteId id = kNobody;
  bool from_shelf =
      false;  // dropped in here, so it may be put away; the others belong to the world
  Nature nature;
  double x = 0;
  double y = 0;
  double vx = 0;
  double vy = 0;
  Mode mode = Mode::kFall;
  double since_ms = 0;         // when `mode` began
  double next_ms = 0;          // when it next decides what to do
  double touched_ms = 0;       // when a person or another sprite last touched it
  bool thrown = false;         // in flight since it was let go of, so it may cross
  bool through_floor = false;  // thrown downwards fast enough to pass the floor
  bool tumbles = false;        // thrown so hard that it bounced, until it lands
  bool squashed = false;       // hit the ground so hard that it is squashed when it lands
  bool arriving = false;       // came in over an edge and has not landed yet
  bool greets = false;         // somebody waved at it when it arrived, so it greets back
  int64_t throws = 0;          // in a row, on its journey too; the last one was at `thrown_ms`
  double thrown_ms = 0;
  int reels = 0;                  // turns that it still reels, because it is dizzy
  std::optional<Facing> came_by;  // from this side; nothing for one from above or below, or at home
  bool longs = false;             // walks to where it came from, because it has long been alone
  bool is_home = false;           // has just come home: it hops and greets
  double pace = 1;                // of its walk, in walking speeds
  SpriteId chases = kNobody;      // the sprite that it runs after
  bool sleepy = false;            // walks to a corner to sleep there
  bool bounced_hard = false;      // since it last landed
  bool landed_hard = false;       // the last time: harder than its own hop, so it can be heard
  size_t monitor = 0;             // the last monitor that its middle was on
};

// Who a sprite is thrown to, and how many columns to the right and rows down that is from where it
// comes in. Nobody in particular is meant when the name is empty.
struct Goal {
  std::string name;  // as the relay has it: PlainText of it is shown
  int column = 0;
  int row = 0;

  bool operator==(const Goal&) const = default;
};

// How a sprite comes in by an edge. core/relay/crossings/edges.cc reads and writes all but the
// edge.
struct Entrance {
  Edge edge = Edge::kLeft;
  double at = 0.5;  // 0 … 1 from the left or the top
  double vx = 0;    // dip/s
  double vy = 0;
  Goal goal = {};
  std::string animation = {};  // with which it crosses, so how its game stands; empty: it falls
  bool is_home = false;        // it comes home: not in what is sent
};

// A sprite that leaves over an edge, likewise; its speeds are whole numbers.
struct Departure : Entrance {
  Sprite sprite;
  Journey journey = {};  // with this throw
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_MOTION_SPRITE_H_
