// How a window of the program comes to the front.
#ifndef CLIENT_WIN_X11_WINDOWS_FRONT_WINDOW_H_
#define CLIENT_WIN_X11_WINDOWS_FRONT_WINDOW_H_

#include <gdk/gdkx.h>
#include <gtk/gtk.h>

namespace sprites {

// Shows it above the windows of other programs and above the sprites, with the keyboard. A window
// manager gives the keyboard to a new window only if the person has used the program since, and GTK
// does not know of clicks on sprites. On Wayland, the compositor decides.
inline void ShowInFront(GtkWidget* window) {
  gtk_window_set_keep_above(GTK_WINDOW(window), TRUE);
  gtk_window_set_position(GTK_WINDOW(window), GTK_WIN_POS_CENTER);
  gtk_widget_realize(window);
  GdkWindow* surface = gtk_widget_get_window(window);
  if (GDK_IS_X11_WINDOW(surface) != FALSE) {
    gdk_x11_window_set_user_time(surface, gdk_x11_get_server_time(surface));
  }
  gtk_widget_show_all(window);
}

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_FRONT_WINDOW_H_
