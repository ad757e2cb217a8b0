#include "x11/windows/sprite_keys.h"

#include <gdk/gdkkeysyms.h>

#include <optional>

namespace sprites {

namespace {

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
    case GDK_KEY_w:
    case GDK_KEY_W:
      return Key::kWave;
    case GDK_KEY_h:
    case GDK_KEY_H:
      return Key::kHeart;
    case GDK_KEY_l:
    case GDK_KEY_L:
      return Key::kLaugh;
    default:
      return std::nullopt;
  }
}

}  // namespace

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
