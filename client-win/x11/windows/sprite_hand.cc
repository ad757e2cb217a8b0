#include "x11/windows/sprite_hand.h"

#include <gdk/gdkkeysyms.h>

#include <optional>

#include "core/motion/click.h"

namespace sprites {

namespace {

constexpr double kClickPxMax = 4;         // px that the pointer may move in a click
constexpr uint32_t kDoubleClickMs = 400;  // between the clicks of a double click: GTK's default

bool IsNear(Point one, Point other) { return IsClick(one, other, kClickPxMax, kClickPxMax); }

std::optional<Key> KeyOf(guint symbol) {
  switch (symbol) {
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
      return Key::kLeft;
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
      return Key::kRight;
    case GDK_KEY_Up:
    case GDK_KEY_KP_Up:
      return Key::kUp;
    case GDK_KEY_Down:
    case GDK_KEY_KP_Down:
      return Key::kDown;
    case GDK_KEY_space:
      return Key::kSpace;
    default:
      return std::nullopt;
  }
}

}  // namespace

void SpriteHand::Press(SpriteId id, Point point, uint32_t ms) {
  if (held_ != kNobody) {
    return;
  }
  const bool is_double = last_click_.id == id && ms - last_click_.ms <= kDoubleClickMs &&
                         IsNear(last_click_.point, point);
  last_click_ = {};
  if (is_double) {
    listener_->DoubleClicked(id);
    return;
  }
  held_ = id;
  press_point_ = point;
  listener_->Grabbed(id, point, ms);
}

void SpriteHand::Move(Point point, uint32_t ms) { listener_->Dragged(point, ms); }

bool SpriteHand::Release(Point point, uint32_t ms) {
  const SpriteId id = held_;
  held_ = kNobody;
  listener_->Dragged(point, ms);
  listener_->Released(ms);
  if (!IsNear(press_point_, point)) {
    return false;
  }
  last_click_ = {id, ms, point};
  return true;
}

KeyUse HandleSpriteKey(SpriteListener* listener, guint symbol, bool is_down, bool with_control,
                       bool with_shift) {
  if (const auto key = KeyOf(symbol)) {
    listener->Pressed(*key, is_down, with_control);
    return KeyUse::kReported;
  }
  if (!is_down) {
    return KeyUse::kNone;
  }
  if (symbol == GDK_KEY_Tab || symbol == GDK_KEY_ISO_Left_Tab) {
    listener->Stepped(with_shift);
    return KeyUse::kReported;
  }
  if (symbol == GDK_KEY_Escape) {
    return KeyUse::kEscape;
  }
  const bool is_menu = symbol == GDK_KEY_Menu || (symbol == GDK_KEY_F10 && with_shift);
  return is_menu ? KeyUse::kMenu : KeyUse::kNone;
}

}  // namespace sprites
