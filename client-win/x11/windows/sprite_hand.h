// What a pointer's button and the keys do with sprites: press, drag, click, double click, steer.
#ifndef CLIENT_WIN_X11_WINDOWS_SPRITE_HAND_H_
#define CLIENT_WIN_X11_WINDOWS_SPRITE_HAND_H_

#include <gdk/gdk.h>

#include <cstdint>

#include "x11/windows/sprite_display.h"

namespace sprites {

// The buttons of a pointer, as both protocols number them for GTK.
constexpr unsigned kFirstButton = 1;
constexpr unsigned kThirdButton = 3;

class SpriteHand {
 public:
  explicit SpriteHand(SpriteListener* listener) : listener_(listener) {}

  SpriteId held() const { return held_; }
  void Forget() { held_ = kNobody; }
  // The first button went down on a sprite.
  void Press(SpriteId id, Point point, uint32_t ms);
  void Move(Point point, uint32_t ms);
  // It was let go. Returns whether that was a click, which the display gives the keyboard.
  bool Release(Point point, uint32_t ms);

 private:
  struct LastClick {
    SpriteId id = kNobody;
    uint32_t ms = 0;
    Point point;
  };

  SpriteListener* listener_;
  SpriteId held_ = kNobody;
  Point press_point_{};  // where the button went down
  LastClick last_click_;
};

// What a key is for: reported to the listener at once, or left to the display.
enum class KeyUse : uint8_t { kReported, kEscape, kMenu, kNone };

// `symbol`: in the person's layout.
KeyUse HandleSpriteKey(SpriteListener* listener, guint symbol, bool is_down, bool with_control,
                       bool with_shift);

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_SPRITE_HAND_H_
