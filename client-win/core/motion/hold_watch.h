// Notices that the pointer has let go of a sprite without saying so.
//
// When the screen is locked or asks for an administrator's consent, another desktop gets the
// pointer, and the message that the button was released never comes. The state of the button does
// say so, but it may be ahead of messages that still wait, so it must last. While an elevated
// program is in front, Windows hides that state from others (UIPI): the button seems to be up from
// the first moment on. So "up" counts only once the button was seen down in the same hold.
#ifndef CLIENT_WIN_CORE_MOTION_HOLD_WATCH_H_
#define CLIENT_WIN_CORE_MOTION_HOLD_WATCH_H_

#include <cstdint>
#include <optional>

namespace sprites {

constexpr int64_t kLostHoldMs = 150;  // far longer than a message waits

class HoldWatch {
 public:
  // Call it every turn. `has_hold`: a sprite is held. `is_down`: the pointer's button is, and the
  // window has the pointer. Returns whether the sprite must be released now.
  bool Update(bool has_hold, bool is_down, int64_t now_ms) {
    if (!has_hold || is_down || !was_down_) {
      was_down_ = has_hold && is_down;
      lost_ms_.reset();
      return false;
    }
    lost_ms_ = lost_ms_.value_or(now_ms);
    return now_ms - *lost_ms_ >= kLostHoldMs;
  }

 private:
  bool was_down_ = false;           // the button, in this hold
  std::optional<int64_t> lost_ms_;  // when the button was first seen up
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_MOTION_HOLD_WATCH_H_
