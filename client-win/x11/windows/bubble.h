// A speech bubble beside a sprite, or a notice in a corner of the screen. A click closes it.
#ifndef CLIENT_WIN_X11_WINDOWS_BUBBLE_H_
#define CLIENT_WIN_X11_WINDOWS_BUBBLE_H_

#include <functional>
#include <string>

#include "core/scene/scene.h"
#include "x11/windows/bubble_window.h"
#include "x11/windows/look.h"

namespace sprites {

class Bubble {
 public:
  Bubble(const Look* look, const std::string& title, std::function<void()> clicked);

  void ShowBeside(const DrawnBubble& bubble);
  // Shows a heading and a text in the corner of the work area where notices appear.
  void ShowInCorner(const std::string& heading, const std::string& text);
  void Hide();
  bool is_shown() const { return window_.is_shown(); }

 private:
  const Look* look_;
  BubbleWindow window_;
  std::string text_;  // beside a sprite
  double scale_ = 0;  // that it was measured with
  BubbleSize size_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_BUBBLE_H_
