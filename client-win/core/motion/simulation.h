// The world on one desktop: sprites that walk, fall, bounce, climb, sleep, are dragged and thrown.
//
// A function of its state, the time and the randomness it is given. Sprites stand on the floor and
// on ledges. Only what somebody threw crosses an edge, so nobody is lost by walking; what crosses
// is handed out by Step and is no longer here.
// Invariant: the order of `sprites()` is the order they are drawn in, the one on top last.
// Cost: O(n²) comparisons a step for collisions, 11 000 of them with 150 sprites; no allocation
// while nothing happens.
#ifndef CLIENT_WIN_CORE_MOTION_SIMULATION_H_
#define CLIENT_WIN_CORE_MOTION_SIMULATION_H_

#include <optional>
#include <string>
#include <vector>

#include "core/motion/behaviour.h"
#include "core/motion/sprite.h"
#include "core/screen/geometry.h"

namespace sprites {

// Who comes into being, in the air.
struct Newcomer {
  std::string file;
  std::string name;
  double scale = 1;
  bool from_shelf = false;
  Nature nature;
  Facing facing = Facing::kRight;
  Point place;  // px: middle and foot
};

enum class SteerKey : uint8_t { kLeft, kRight, kJump, kDrop };

class Simulation {
 public:
  const Screen& screen() const { return screen_; }
  const std::vector<Sprite>& sprites() const { return sprites_; }
  double now_ms() const { return now_ms_; }
  // Null when there is no such sprite. Valid until the next call that is not const.
  const Sprite* Find(SpriteId id) const;
  // Who the pointer holds, and who the keys steer; kNobody for none.
  SpriteId held() const { return held_ ? held_->id : kNobody; }
  SpriteId steered() const { return steered_ ? steered_->id : kNobody; }

  // Moves the world on. Who left during it, usually nobody; they are no longer in the world.
  std::vector<Departure> Step(double now_ms, const Random& random);

  // Monitors came, went or changed: whoever stands where nothing is any more is put on the nearest.
  void SetScreen(Screen screen);
  void SetLedges(std::vector<Ledge> ledges) { ledges_ = std::move(ledges); }
  void SetCalm(bool calm) { calm_ = calm; }
  // Another picture than was thought, or another scale.
  void SetNature(SpriteId id, const Nature& nature);

  // The caller minds how many there may be.
  SpriteId Add(const Newcomer& newcomer);
  void Remove(SpriteId id);

  // Comes in by an edge, where and as fast as it left the other desktop. It must land before it can
  // cross again. The sprite keeps its id when it has one.
  SpriteId Enter(Sprite sprite, const Entrance& entrance);
  // A refused departure comes back in by the edge it left by, at half its speed.
  SpriteId BounceBack(const Departure& departure);

  // Takes hold of a sprite at a point of the screen; it is drawn on top from now on.
  void Grab(SpriteId id, Point point, double ms);
  // The pointer moved while it holds a sprite; `ms` is the pointer's clock.
  void Drag(Point point, double ms);
  // Lets go: the sprite flies on as fast as the pointer moved over the last kTrailMs.
  void Release(double ms);

  // Throws a sprite towards an edge from where it is, as the keyboard does it.
  void ThrowTo(SpriteId id, Edge edge);
  // A key goes down or up: the sprite runs, jumps, lets go of a ledge, and has no will of its own
  // for a while.
  void Steer(SpriteId id, SteerKey key, bool down);
  void StopSteering() { steered_.reset(); }

  // Puts a sprite into a state, whatever it was: for what was kept, and for tests.
  void Put(Sprite sprite);

 private:
  struct PointerPoint {
    Point point;
    double ms;
  };
  struct Hold {
    SpriteId id;
    Point offset;
    std::vector<PointerPoint> trail;
  };
  struct Steering {
    SpriteId id;
    bool left = false;
    bool right = false;
    bool jump = false;
  };

  // What collisions look at, one dense row a sprite.
  struct Box {
    double x;
    double top;
    double foot;
    double half;
    bool collides;
  };

  Sprite* Mutable(SpriteId id);
  const Steering* SteeringOf(const Sprite& sprite) const;
  Room RoomOf(const Sprite& sprite) const;
  void Move(Sprite* sprite, double seconds, const Random& random);
  void Fly(Sprite* sprite, const Room& room, double seconds);
  void Climb(Sprite* sprite, const Room& room, double seconds);
  void Stand(Sprite* sprite, const Room& room, double seconds, const Random& random);
  void TouchDown(Sprite* sprite, double ground);
  void Collide();
  void Bump(Sprite* sprite, double closing);
  std::optional<Edge> Crosses(const Sprite& sprite, const Room& room) const;
  Departure Depart(const Sprite& sprite, Edge edge) const;
  void StayInside(Sprite* sprite, const Room& room, const Random& random);
  void MeetWall(Sprite* sprite, const Room& room, Facing wall, const Random& random);
  void Hurl(Sprite* sprite, double vx, double vy);
  std::optional<double> SurfaceBetween(const Sprite& sprite, const Room& room, double from,
                                       double to) const;
  bool IsSupported(const Sprite& sprite, const Room& room) const;

  Screen screen_;
  std::vector<Sprite> sprites_;
  std::vector<Box> boxes_;  // of the last step; kept for its memory
  std::vector<Ledge> ledges_;
  bool calm_ = false;
  std::optional<Hold> held_;
  std::optional<Steering> steered_;
  double now_ms_ = 0;
  SpriteId next_id_ = 1;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_MOTION_SIMULATION_H_
