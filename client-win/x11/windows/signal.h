// Signals of GTK, handled by functions.
#ifndef CLIENT_WIN_X11_WINDOWS_SIGNAL_H_
#define CLIENT_WIN_X11_WINDOWS_SIGNAL_H_

#include <gtk/gtk.h>

#include <functional>
#include <utility>

namespace sprites {

// Calls `handle` at each signal of this name, as long as the object lives. An event goes on to the
// next handler.
inline void On(gpointer object, const char* signal, std::function<void()> handle) {
  using Handle = std::function<void()>;
  const auto call = +[](Handle* handle) -> gboolean {
    (*handle)();
    return GDK_EVENT_PROPAGATE;
  };
  const auto forget = +[](gpointer handle, GClosure*) { delete static_cast<Handle*>(handle); };
  g_signal_connect_data(object, signal, G_CALLBACK(call), new Handle(std::move(handle)), forget,
                        G_CONNECT_SWAPPED);
}

struct DestroyWidget {
  void operator()(GtkWidget* widget) const { gtk_widget_destroy(widget); }
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_SIGNAL_H_
