// The keys of the keyboard in the user's layout.
#ifndef CLIENT_WIN_X11_SYSTEM_KEYBOARD_H_
#define CLIENT_WIN_X11_SYSTEM_KEYBOARD_H_

#include <xcb/xcb.h>
#include <xkbcommon/xkbcommon.h>

#include <string>

#include "x11/system/x_connection.h"

namespace sprites {

class Keyboard {
 public:
  explicit Keyboard(const XConnection& connection);
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  // Reads the layout again, after it was changed.
  void Load();

  struct Stroke {
    xkb_keysym_t symbol = XKB_KEY_NoSymbol;
    std::string text;  // UTF-8; empty for keys that write nothing
    bool has_control = false;
  };
  Stroke Read(const xcb_key_press_event_t& event) const;

 private:
  xcb_connection_t* connection_;
  xkb_context* context_;
  bool has_extension_;         // without it, no key is known
  xkb_keymap* map_ = nullptr;  // null: likewise
  xkb_state* state_ = nullptr;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_KEYBOARD_H_
