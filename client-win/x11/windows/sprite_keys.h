// The buttons and keys by which sprites are used, on both displays.
#ifndef CLIENT_WIN_X11_WINDOWS_SPRITE_KEYS_H_
#define CLIENT_WIN_X11_WINDOWS_SPRITE_KEYS_H_

#include <gdk/gdk.h>

#include <cstdint>

#include "core/app/sprite_hand.h"
#include "core/app/sprite_listener.h"

namespace sprites {

// The buttons of a pointer, as both protocols number them for GTK.
constexpr unsigned kFirstButton = 1;
constexpr unsigned kThirdButton = 3;

constexpr ClickLimits kClickLimits{4, 4, 400};  // GTK's default, for a double click

// What a key is for: reported to the listener at once, or left to the display.
enum class KeyUse : uint8_t { kReported, kEscape, kMenu, kNone };

// `symbol`: in the person's layout.
KeyUse HandleSpriteKey(SpriteListener* listener, guint symbol, bool is_down, bool with_control,
                       bool with_shift);

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_SPRITE_KEYS_H_
