// The own sprites that are away: thrown from here, and not home again. Where the relay last said
// that each is.
//
// A sprite is known by its picture and the second in which its journey began. Source: BEHAVIOUR.md,
// "Away, and home again"; the cases are in relay.vectors.json. Cost: O(kAwayMax) a call.
#ifndef CLIENT_WIN_CORE_RELAY_AWAY_H_
#define CLIENT_WIN_CORE_RELAY_AWAY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/motion/sprite.h"

namespace sprites {

// Sprites: as many as a menu shows at once. The one thrown longest ago is forgotten.
constexpr size_t kAwayMax = 16;

struct AwaySprite {
  std::string file;
  std::string name;
  int64_t since_s = 0;  // when its journey began
  int64_t seen_s = 0;   // when the relay last told of it, in s since 1970
  int64_t hops = 0;     // of its journey, then
  std::string with;     // who had it then; empty when the relay has not said

  bool operator==(const AwaySprite&) const = default;
};

class Away {
 public:
  // An own sprite is thrown.
  void Leave(const Departure& departure, int64_t now_s);
  // The relay has accepted a throw, perhaps of an own sprite that only came by.
  void Accept(const Departure& departure, const std::string& to, int64_t now_s);
  // The relay has refused the throw of an own sprite: it is here.
  void Refuse(const Departure& departure);
  // A sprite comes in to stay. Returns its journey if it is an own one that is home again: unless it
  // was thrown from here to here (`is_own`), somebody has thrown it since it was last seen.
  std::optional<Journey> ComeHome(const std::string& file, const Journey& journey, bool is_own);
  bool Has(const std::string& file, const Journey& journey) const {
    return Find(file, journey) < all_.size();
  }
  // Adds one that was saved.
  void Restore(AwaySprite sprite);

  // The newest throw last.
  const std::vector<AwaySprite>& all() const { return all_; }

 private:
  // Its index; the size of the list for none.
  size_t Find(const std::string& file, const Journey& journey) const;

  std::vector<AwaySprite> all_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_AWAY_H_
