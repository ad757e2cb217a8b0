// A picture of a character, for dialogs and menus.
#ifndef CLIENT_WIN_X11_WINDOWS_CHARACTER_PICTURE_H_
#define CLIENT_WIN_X11_WINDOWS_CHARACTER_PICTURE_H_

#include <gtk/gtk.h>

#include "core/picture/sheet.h"

namespace sprites {

// How the character stands: at most so many dip high, and at most `zoom` dip for each of its
// pixels. The caller shows the widget.
GtkWidget* PictureOf(const Sheet& sheet, int zoom, int height_max);

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_CHARACTER_PICTURE_H_
