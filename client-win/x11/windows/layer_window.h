// Windows of GTK as layers of Wayland: above the windows of other programs, below programs in full
// screen, and at a place that this program chooses.
//
// Points are relative to the part of a monitor that panels leave, plus the monitor's own place.
#ifndef CLIENT_WIN_X11_WINDOWS_LAYER_WINDOW_H_
#define CLIENT_WIN_X11_WINDOWS_LAYER_WINDOW_H_

#include <gtk/gtk.h>

namespace sprites {

// REQUIRES: the window is a toplevel that was never shown.
void MakeLayer(GtkWindow* window);
// Puts its left top corner there.
void MoveLayer(GtkWindow* window, int x, int y);

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_LAYER_WINDOW_H_
