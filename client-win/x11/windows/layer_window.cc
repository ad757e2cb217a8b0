#include "x11/windows/layer_window.h"

#include <gtk-layer-shell/gtk-layer-shell.h>

namespace sprites {

void MakeLayer(GtkWindow* window) {
  gtk_layer_init_for_window(window);
  gtk_layer_set_namespace(window, "sprites");
  gtk_layer_set_layer(window, GTK_LAYER_SHELL_LAYER_TOP);
}

void MoveLayer(GtkWindow* window, int x, int y) {
  GdkMonitor* monitor = gdk_display_get_monitor_at_point(gdk_display_get_default(), x, y);
  GdkRectangle place;
  gdk_monitor_get_geometry(monitor, &place);
  if (gtk_layer_get_monitor(window) != monitor) {
    gtk_layer_set_monitor(window, monitor);
  }
  for (const auto edge : {GTK_LAYER_SHELL_EDGE_LEFT, GTK_LAYER_SHELL_EDGE_TOP}) {
    gtk_layer_set_anchor(window, edge, TRUE);
  }
  gtk_layer_set_margin(window, GTK_LAYER_SHELL_EDGE_LEFT, x - place.x);
  gtk_layer_set_margin(window, GTK_LAYER_SHELL_EDGE_TOP, y - place.y);
}

}  // namespace sprites
