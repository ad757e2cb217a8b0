// What the first button of a pointer does with sprites: drag, click, double click.
//
// A press grabs the sprite at once, the second one of a double click too, so that a second press
// that becomes a drag is a drag.
#ifndef CLIENT_WIN_CORE_APP_SPRITE_HAND_H_
#define CLIENT_WIN_CORE_APP_SPRITE_HAND_H_

#include <cmath>
#include <cstdint>

#include "core/app/sprite_listener.h"

namespace sprites {

// What the person has set on this system.
struct ClickLimits {
  double across = 0;          // px that the pointer may move in a click, to the side
  double down = 0;            // likewise up or down
  uint32_t double_click = 0;  // ms between the presses of a double click
};

enum class Gesture : uint8_t { kDrag, kClick, kDoubleClick };

class SpriteHand {
 public:
  explicit SpriteHand(SpriteListener* listener) : listener_(listener) {}

  SpriteId held() const { return held_; }
  // The button went down on a sprite. `ms` may wrap.
  void Press(SpriteId id, Point point, uint32_t ms, const ClickLimits& limits) {
    if (held_ != kNobody) {
      return;
    }
    limits_ = limits;
    is_second_ = clicked_ == id && ms - press_ms_ <= limits.double_click && IsNear(point);
    clicked_ = kNobody;
    held_ = id;
    press_point_ = point;
    press_ms_ = ms;
    is_drag_ = false;
    listener_->Grabbed(id, point, ms);
  }
  void Move(Point point, uint32_t ms) {
    is_drag_ = is_drag_ || !IsNear(point);
    listener_->Dragged(point, ms);
  }
  // The button was let go. The display gives the keyboard to a sprite that was clicked, and reports
  // both kinds of click.
  Gesture Release(Point point, uint32_t ms) {
    Move(point, ms);
    const SpriteId id = held_;
    Lose(ms);
    if (is_drag_) {
      return Gesture::kDrag;
    }
    clicked_ = is_second_ ? kNobody : id;
    return is_second_ ? Gesture::kDoubleClick : Gesture::kClick;
  }
  // Something else has the pointer now.
  void Lose(uint32_t ms) {
    if (held_ != kNobody) {
      held_ = kNobody;
      listener_->Released(ms);
    }
  }
  // Likewise, when the sprite was released already.
  void Forget() { held_ = kNobody; }

 private:
  bool IsNear(Point point) const {
    return std::abs(point.x - press_point_.x) <= limits_.across &&
           std::abs(point.y - press_point_.y) <= limits_.down;
  }

  SpriteListener* listener_;
  ClickLimits limits_;
  SpriteId held_ = kNobody;
  Point press_point_{};  // where the button went down last
  uint32_t press_ms_ = 0;
  bool is_second_ = false;      // this press, of a double click
  bool is_drag_ = false;        // it has moved too far for a click
  SpriteId clicked_ = kNobody;  // by the last press; the next one may make it a double click
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_APP_SPRITE_HAND_H_
