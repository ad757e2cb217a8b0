#include "x11/system/main_loop.h"

#include <gdk/gdkx.h>
#include <glib-unix.h>
#include <gtk/gtk.h>

#include <clocale>
#include <stdexcept>

#include "x11/system/layer_shell.h"

namespace sprites {

namespace {

// Only what GTK needs: its words, and the keys that write more than ASCII. The decimal point stays
// one.
void SetLocale() {
  std::setlocale(LC_CTYPE, "");
  std::setlocale(LC_MESSAGES, "");
  gtk_disable_setlocale();
}

// Without these two, Xlib ends the program with the server.
void OutliveServer() {
  XSetIOErrorHandler([](Display*) { return 0; });
  XSetIOErrorExitHandler(
      gdk_x11_get_default_xdisplay(), [](Display*, void*) {}, nullptr);
}

}  // namespace

bool StartGtk() {
  const bool uses_wayland = HasLayerShell();
  SetLocale();
  gdk_set_allowed_backends(uses_wayland ? "wayland" : "x11");
  g_set_prgname("sprites");
  gdk_set_program_class("Sprites");
  if (gtk_init_check(nullptr, nullptr) == FALSE) {
    throw std::runtime_error("There is no X server to show sprites on. Is DISPLAY set?");
  }
  if (!uses_wayland) {
    OutliveServer();
  }
  return uses_wayland;
}

void Watch(int fd, bool* is_ready) {
  const auto handle = +[](gint, GIOCondition, gpointer is_ready) -> gboolean {
    *static_cast<bool*>(is_ready) = true;
    return G_SOURCE_CONTINUE;
  };
  if (fd >= 0) {
    g_unix_fd_add(fd, G_IO_IN, handle, is_ready);
  }
}

}  // namespace sprites
