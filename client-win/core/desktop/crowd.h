// The sprites of a desktop, and what the person does with them.
//
// Cost: O(sprites) a call at most.
#ifndef CLIENT_WIN_CORE_DESKTOP_CROWD_H_
#define CLIENT_WIN_CORE_DESKTOP_CROWD_H_

#include <optional>
#include <string>
#include <vector>

#include "core/desktop/context.h"
#include "core/desktop/guests.h"
#include "core/desktop/sprite_look.h"

namespace sprites {

constexpr int64_t kEmptyMs = 60'000;     // without a sprite; then one peers in at an edge
constexpr SpriteId kPeer = 0xFFFE'0000;  // its id: above those of all sprites
constexpr int64_t kKeysHintMs = 10'000;  // the bubble says what the keys do; then only the name

// Keys as the core knows them. Those from kWave on react, in the order of rules::kReactions.
enum class Key : uint8_t { kLeft, kRight, kUp, kDown, kSpace, kWave, kHeart, kLaugh };

class Crowd {
 public:
  Crowd(Context* context, Simulation* simulation, SpriteLook* look, const Guests* guests)
      : context_(*context), simulation_(*simulation), look_(*look), guests_(*guests) {}

  // Lets a character of the shelf fall in at `place`, or at a random one. Returns kNobody, and
  // shows a toast, when there are as many own sprites as the settings allow.
  SpriteId DropIn(const std::string& file, std::optional<Point> place);
  // Removes a sprite that came from the shelf. False for any other: it belongs to somebody else.
  bool PutAway(SpriteId id);
  // One that peers in comes in when it is grabbed.
  void Grab(SpriteId id, Point point, double ms);
  void Drag(Point point, double ms) { simulation_.Drag(point, ms); }
  void Release(double ms);
  // The pointer has moved since the last tick, and holds no sprite.
  void MovePointer(Point point) { simulation_.MovePointer(point); }
  // Sprites are tired in the evening, and know since when they travel.
  void SetClock(const WallClock& clock) {
    context_.clock = clock;
    simulation_.SetHour(static_cast<double>(clock.local_s % 86'400) / 3'600);
  }
  void ThrowTo(SpriteId id, Edge edge);

  // Whether one peers in at an edge, kPeer in the scene: there has been no sprite for long.
  bool peers() const { return peers_; }

  void Select(SpriteId id);  // kNobody for none
  // Likewise, by a menu or a key: a bubble says which sprite it is, and what the keys do.
  void SelectByKeys(SpriteId id);
  SpriteId selected() const { return selected_; }
  // What a bubble at the selected sprite says; empty if it was not selected by keys.
  std::string KeysHint() const;
  void DismissKeysHint() { keys_hint_ms_.reset(); }
  // The sprite after selected(), or the one before it, in the order in which they came. The first
  // one follows the last one. Sprites that can't be seen are skipped. kNobody when there is none.
  SpriteId NextSprite(bool is_backwards) const;
  // Steers the selected sprite; an arrow `with_control` throws it over that edge.
  void Press(Key key, bool is_down, bool with_control = false);

  // -- For the other parts of the desktop.
  // `is_home`: no sprite is on its way, so an empty desktop is one without sprites.
  void WatchEmpty(bool is_home);
  void DrawPeer(Scene* scene);
  void Remove(const std::vector<SpriteId>& ids);
  void BounceBack(const Departure& departure, const std::string& why);

 private:
  bool IsFull() const;

  Context& context_;
  Simulation& simulation_;
  SpriteLook& look_;
  const Guests& guests_;
  SpriteId selected_ = kNobody;
  int64_t last_seen_ms_ = 0;             // when there was a sprite
  bool peers_ = false;                   // one peers in, because there has been none for long
  std::optional<int64_t> keys_hint_ms_;  // when a sprite was selected by keys
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_CROWD_H_
