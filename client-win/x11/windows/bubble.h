// A speech bubble above a sprite, or a notice in a corner of the screen. A click closes it.
#ifndef CLIENT_WIN_X11_WINDOWS_BUBBLE_H_
#define CLIENT_WIN_X11_WINDOWS_BUBBLE_H_

#include <xcb/xcb.h>

#include <functional>
#include <string>

#include "x11/system/x_connection.h"
#include "x11/windows/look.h"
#include "x11/windows/panel.h"

namespace sprites {

class Bubble {
 public:
  Bubble(const XConnection* connection, const Look* look, const std::string& title,
         std::function<void()> clicked);

  // Shows `text` with the tip of the tail at a point, within the work area of its monitor.
  void ShowAbove(const std::string& text, Point point);
  // Shows a heading and a text in the corner of the work area where notices appear.
  void ShowInCorner(const std::string& heading, const std::string& text);
  void Hide();
  bool is_shown() const { return panel_.is_shown(); }
  bool HandleEvent(const xcb_generic_event_t& event);

 private:
  const Look* look_;
  Panel panel_;
  std::function<void()> clicked_;
  std::string text_;  // of the picture
  int tail_ = -1;     // px of the panel: where the tip is in the picture
  double scale_ = 0;  // of the picture
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_BUBBLE_H_
