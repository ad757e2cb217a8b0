// The physics of the sprites on one desktop: they walk, fall, bounce, climb, sleep, and are dragged
// and thrown.
//
// A function of its state, the time and the randomness it is given. Sprites stand on the floor and
// on ledges. Only a thrown sprite crosses an edge, so a walking sprite is never lost. Step returns
// the sprites that crossed and removes them from the simulation.
// Invariant: sprites() is in drawing order, the topmost last.
// Cost: O(n²) comparisons a step for collisions, 11 000 of them with 150 sprites; no allocation
// while nothing happens.
#ifndef CLIENT_WIN_CORE_MOTION_SIMULATION_H_
#define CLIENT_WIN_CORE_MOTION_SIMULATION_H_

#include <optional>
#include <vector>

#include "core/motion/behaviour.h"
#include "core/motion/sprite.h"
#include "core/screen/geometry.h"

namespace sprites {

// A sprite to add, in the air.
struct NewSprite : Carried {
  bool from_shelf = false;
  Nature nature;
  Point place;  // px: the middle of its foot
};

enum class SteerKey : uint8_t { kLeft, kRight, kJump, kDrop };

class Simulation {
 public:
  const Screen& screen() const { return screen_; }
  const std::vector<Sprite>& sprites() const { return sprites_; }
  double now_ms() const { return now_ms_; }
  // Null when there is no such sprite. Valid until the next non-const call.
  const Sprite* Find(SpriteId id) const;
  // The sprite that the pointer holds, and the one that the keys steer; kNobody for none.
  SpriteId held() const { return held_ ? held_->id : kNobody; }
  SpriteId steered() const { return steered_ ? steered_->id : kNobody; }

  // What is below a sprite's foot, at most so many px: the floor or the highest ledge, from end to
  // end. Nothing when the ground is farther away. Cost: O(ledges + monitors).
  std::optional<Ledge> GroundBelow(const Sprite& sprite, double px_max) const;

  // Moves on to `now_ms`. Returns the sprites that left over an edge, usually none, and removes
  // them.
  std::vector<Departure> Step(double now_ms, const Random& random);

  // Monitors came, went or changed. A sprite outside all of them is moved to the nearest.
  void SetScreen(Screen screen);
  void SetLedges(std::vector<Ledge> ledges) { ledges_ = std::move(ledges); }
  void SetCalm(bool calm) { calm_ = calm; }
  // The local time in hours, 0 … 24. Sprites are tired in the evening.
  void SetHour(double hour) { hour_ = hour; }
  // After the sprite's picture or scale has changed.
  void SetNature(SpriteId id, const Nature& nature);

  // The caller limits how many sprites there are.
  SpriteId Add(const NewSprite& added);
  void Remove(SpriteId id);

  // Lets a sprite come in by an edge, at the place and the speed at which it left the other
  // desktop. It must land before it can cross again. It keeps its id if it has one.
  SpriteId Enter(Sprite sprite, const Entrance& entrance);
  // Lets a refused departure come back in by the edge it left by, at kReturnedSpeed of its speed.
  SpriteId BounceBack(const Departure& departure);

  // Takes hold of a sprite at a point of the screen, and moves it to the top of the drawing order.
  void Grab(SpriteId id, Point point, double ms);
  // The pointer moved while it holds a sprite. `ms` is of the pointer's clock.
  void Drag(Point point, double ms);
  // Lets go: the sprite flies on as fast as the pointer moved over the last kTrailMs.
  void Release(double ms);

  // The pointer moved and holds nothing. Sprites nearby look at it. One that it strokes to and fro
  // enjoys it, and wakes up for it. Cost: O(n); call it once a frame, with the newest point.
  void MovePointer(Point point);
  // The sprite on which the pointer has rested for so many ms; kNobody for none.
  SpriteId RestedOn(double ms) const {
    return pointer_ && now_ms_ - pointer_->ms >= ms ? pointer_->over : kNobody;
  }

  // A sprite speaks: it wakes, and hops unless sprites are calm. One that is busy goes on with
  // that.
  void Speak(SpriteId id);
  // A sprite waves towards a side, if it has time for that.
  void Wave(SpriteId id, Facing facing);

  // Throws a sprite from where it is so that it crosses an edge, as a menu or a command does.
  void ThrowTo(SpriteId id, Edge edge);
  // A key goes down or up: the sprite runs, jumps or lets go of a ledge, and for kSteerMs decides
  // nothing by itself.
  void Steer(SpriteId id, SteerKey key, bool down);
  void StopSteering() { steered_.reset(); }

  // Adds a sprite in any state, or replaces the one with its id.
  void Put(Sprite sprite);

 private:
  struct PointerPoint {
    Point point;
    double ms;
  };
  struct Hold {
    SpriteId id;
    Point offset;                     // dip: from the pointer to the foot
    std::vector<PointerPoint> trail;  // never empty
  };
  struct Steering {
    SpriteId id;
    bool left = false;
    bool right = false;
    bool jump = false;
  };

  // Where the pointer last moved, over which sprite, and how far it has stroked that one.
  struct Pointer {
    Point point;
    double ms;
    SpriteId over;
    double stroked;  // dip
  };

  // What collisions need of a sprite, one dense row each.
  struct Box {
    double x;
    double top;
    double foot;
    double half;
    bool collides;
  };

  Sprite* FindMutable(SpriteId id);
  const Steering* SteeringOf(const Sprite& sprite) const;
  Room RoomOf(const Sprite& sprite) const;
  void FollowPointer(Sprite* sprite);
  void Move(Sprite* sprite, double seconds, const Random& random);
  void Fly(Sprite* sprite, const Room& room, double seconds);
  void Climb(Sprite* sprite, const Room& room, double seconds);
  void Walk(Sprite* sprite, const Room& room, double seconds, const Random& random);
  void TouchDown(Sprite* sprite, double ground);
  void Welcome(Sprite* arrival);
  void Hang(Sprite* sprite, const Room& room, const Random& random);
  bool PausesAtEnd(Sprite* sprite, const Room& room, double seconds, const Random& random);
  void Sit(Sprite* sprite, const Random& random);
  void WatchPointer(Sprite* sprite, const Room& room);
  bool RunAfter(Sprite* sprite, const Room& room);
  bool Chase(Sprite* sprite, const Room& room, const Random& random);
  bool Long(Sprite* sprite, const Random& random);
  void FallAsleep(Sprite* sprite, const Room& room, const Random& random);
  void ChooseNext(Sprite* sprite, const Room& room, const Random& random);
  bool IsEvening() const { return hour_ && (*hour_ >= kEveningHour || *hour_ < kMorningHour); }
  SpriteId TopmostAt(Point point) const;
  void Collide();
  void PushApart(Sprite* a, Sprite* b, double overlap);
  void Bump(Sprite* sprite, double closing);
  std::optional<Edge> CrossedEdge(const Sprite& sprite, const Room& room) const;
  Departure Depart(const Sprite& sprite, Edge edge) const;
  void KeepInside(Sprite* sprite, const Room& room, const Random& random);
  void HitWall(Sprite* sprite, const Room& room, Facing wall, const Random& random);
  void Launch(Sprite* sprite, double vx, double vy);
  std::optional<double> SurfaceBetween(const Sprite& sprite, const Room& room, double from,
                                       double to) const;
  bool IsSupported(Point foot, const Room& room) const;
  bool IsOnLedge(Point foot) const;

  Screen screen_;
  std::vector<Sprite> sprites_;
  std::vector<Box> boxes_;  // of the last step; kept for its memory
  std::vector<Ledge> ledges_;
  bool calm_ = false;
  std::optional<Hold> held_;
  std::optional<Steering> steered_;
  std::optional<double> hour_;
  std::optional<Pointer> pointer_;
  double now_ms_ = 0;
  SpriteId next_id_ = 1;
};

// Whether a sprite stands on something above the floor of its monitor, so on a window.
bool AnySpriteOnWindow(const Simulation& simulation);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_MOTION_SIMULATION_H_
