// The window in which the person types what to say.
//
// It stays open while the person talks: Enter says the line, which is cleared once the relay has
// accepted it; Escape, or Enter on an empty line, closes the window. Invariant: at most one line is
// on its way, and the field keeps a line that was refused.
#ifndef CLIENT_WIN_X11_WINDOWS_SAY_WINDOW_H_
#define CLIENT_WIN_X11_WINDOWS_SAY_WINDOW_H_

#include <xcb/xcb.h>

#include <cstdint>
#include <string>

#include "core/desktop/desktop.h"
#include "x11/system/clipboard.h"
#include "x11/system/keyboard.h"
#include "x11/system/x_connection.h"
#include "x11/windows/look.h"
#include "x11/windows/panel.h"
#include "x11/windows/text_field.h"

namespace sprites {

class SayWindow {
 public:
  SayWindow(const XConnection* connection, const Keyboard* keyboard, Clipboard* clipboard,
            const Look* look, Desktop* desktop);

  bool is_closed() const { return is_closed_; }
  bool HandleEvent(const xcb_generic_event_t& event);
  // Shows what has become of the line since.
  void Turn();
  // Text from the clipboard. Returns whether this window has asked for it.
  bool Paste(const std::string& text);

 private:
  enum class Part : uint8_t { kSend, kClose, kNone };

  void Paint();
  int DrawCount(int top, int right, Canvas* canvas) const;
  void DrawNote(int left, int top, int right, Canvas* canvas) const;
  void DrawButtons(int top, int right, Canvas* canvas);
  std::string Words(Text text) const;
  void Send();
  void HandleKey(const xcb_key_press_event_t& event);
  Part PartAt(int x, int y) const;

  const XConnection* connection_;
  const Keyboard* keyboard_;
  Clipboard* clipboard_;
  const Look* look_;
  Desktop* desktop_;
  Panel panel_;
  TextField field_;
  Speech shown_;  // what the picture shows
  bool awaits_paste_ = false;
  bool is_closed_ = false;
  Part hover_ = Part::kNone;
  Box boxes_[2]{};  // by Part: where they are, px of the panel
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_SAY_WINDOW_H_
