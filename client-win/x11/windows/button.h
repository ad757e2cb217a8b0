// A button of a window that the program draws itself.
#ifndef CLIENT_WIN_X11_WINDOWS_BUTTON_H_
#define CLIENT_WIN_X11_WINDOWS_BUTTON_H_

#include <string>

#include "x11/windows/canvas.h"
#include "x11/windows/look.h"

namespace sprites {

// Units: dip.
struct ButtonSize {
  double height = 0;
  double padding = 0;  // at the left and the right of the label
  double width_min = 0;
};

struct Button {
  std::string label;
  bool is_main = false;     // what Enter does
  bool is_hovered = false;  // the pointer is over it
  bool has_focus = false;
};

// Draws a button whose right top corner is at (right, top). Returns where it is.
Box DrawButton(Canvas* canvas, const Look& look, const Button& button, const ButtonSize& size,
               int right, int top);

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_BUTTON_H_
