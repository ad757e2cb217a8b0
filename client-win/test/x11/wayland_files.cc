// A window on Wayland from which files can be dragged, for the tests.
//   wayland-files TITLE URI…
#include <gtk/gtk.h>

int main(int count, char** words) {
  gtk_init(&count, &words);
  if (count < 3) {
    return 2;
  }
  GtkWidget* window = gtk_window_new(GTK_WINDOW_TOPLEVEL);
  gtk_window_set_title(GTK_WINDOW(window), words[1]);
  gtk_drag_source_set(window, GDK_BUTTON1_MASK, nullptr, 0, GDK_ACTION_COPY);
  gtk_drag_source_add_uri_targets(window);
  const auto give =
      +[](GtkWidget*, GdkDragContext*, GtkSelectionData* data, guint, guint, gpointer uris) {
        gtk_selection_data_set_uris(data, static_cast<char**>(uris));
      };
  g_signal_connect(window, "drag-data-get", G_CALLBACK(give), words + 2);
  g_signal_connect(window, "destroy", G_CALLBACK(gtk_main_quit), nullptr);
  gtk_widget_show(window);
  gtk_main();
  return 0;
}
