// How a thrown sprite flies and looks: position, speed, file, animation, facing and scale.
//
// All of it follows from the sprite's tag, and differs from throw to throw. So the slice that
// catches a sprite, in any process, knows exactly what was thrown, and a relay that changes or
// mixes up anything is found. The values have at most three decimals, so they are equal as doubles
// however a relay writes them.
#ifndef LOADTEST_ENGINE_ACCOUNT_FLIGHT_H_
#define LOADTEST_ENGINE_ACCOUNT_FLIGHT_H_

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "account/sprite_tag.h"
#include "wire/rules.h"

namespace swarm {

// Hex digits of a picture's SHA-256.
constexpr size_t kPictureDigits = rules::kFileDigits;

// What an event reported; views of the response. A member that it did not have equals nothing.
struct ReceivedFlight {
  double at = std::numeric_limits<double>::quiet_NaN();
  double vx = std::numeric_limits<double>::quiet_NaN();
  double vy = std::numeric_limits<double>::quiet_NaN();
  double scale = std::numeric_limits<double>::quiet_NaN();
  std::string_view file;
  std::string_view animation;
  std::string_view facing;
};

class Flight {
 public:
  // `pictures`: SHA-256 in hex of the files that sprites show; none: of no file, and of any size.
  explicit Flight(const SpriteTag& tag, const std::vector<std::string>& pictures = {});

  // Append JSON members: at, vx, vy; and file, animation, facing, scale.
  void AppendMotion(std::string& to) const;
  void AppendPicture(std::string& to) const;

  friend bool operator==(const ReceivedFlight& received, const Flight& thrown);

 private:
  std::string_view file() const { return {file_.data(), file_.size()}; }

  uint32_t at_thousandths_;
  int32_t vx_;
  int32_t vy_;
  uint32_t scale_;
  std::array<char, kPictureDigits> file_;
  std::string_view animation_;
  std::string_view facing_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_ACCOUNT_FLIGHT_H_
