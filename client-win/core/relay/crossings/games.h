// Two small games that need nothing but crossings: keep up, and hot potato.
//
// The animation with which a sprite crosses an edge says how its game stands. Times are in ms of a
// clock that does not stop with the simulation: all desktops mean the same by them.
// Source: BEHAVIOUR.md, "Games"; the cases are in relay.vectors.json. Cost: O(games · sprites).
#ifndef CLIENT_WIN_CORE_RELAY_GAMES_H_
#define CLIENT_WIN_CORE_RELAY_GAMES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/motion/sprite.h"

namespace sprites {

// What a game has to say.
struct GameNews {
  enum class What : uint8_t {
    kKeptUp,  // over `count` edges by now
    kDropped,
    kHot,
    kBurnt,
    kBurntThere,  // elsewhere; it left by `edge`
  };
  What what = What::kKeptUp;
  SpriteId sprite = kNobody;  // here
  std::string name;
  int count = 0;
  Edge edge = Edge::kTop;
};

class Games {
 public:
  // Somebody has thrown a sprite here, with this animation.
  void Arrive(const Sprite& sprite, std::string_view animation, int64_t now_ms);
  // The person makes a sprite a hot potato. `luck`: 0 … 1.
  void Light(const Sprite& sprite, int64_t now_ms, double luck);
  // The animation with which a sprite leaves now; empty for one without a game.
  std::string AnimationOf(SpriteId id, int64_t now_ms) const;
  bool IsHot(SpriteId id) const { return potatoes_.contains(id); }
  // Somebody else has the sprite now.
  void Give(const Departure& departure);
  // Looks which sprite has touched the ground, and which potatoes have gone off. Returns what has
  // happened since the last call.
  std::vector<GameNews> Step(const std::vector<Sprite>& here, int64_t now_ms);

 private:
  using Key = std::pair<std::string, std::string>;  // the file and the name of a sprite
  struct Potato {
    Key key;
    int64_t end_ms;
  };
  struct Away {
    Edge edge;
    int64_t lost_ms;
  };

  void Hold(const Sprite& sprite, int64_t end_ms);

  std::map<SpriteId, int> kept_;  // in the air since they came in: over how many edges in a row
  std::map<SpriteId, Potato> potatoes_;  // that are here, or on their way
  std::map<Key, Away> away_;             // that were thrown on: when it is known that they went off
  std::vector<GameNews> news_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_GAMES_H_
