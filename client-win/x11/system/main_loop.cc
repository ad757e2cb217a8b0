#include "x11/system/main_loop.h"

#include <gdk/gdkx.h>
#include <gtk/gtk.h>

#include <algorithm>
#include <clocale>
#include <stdexcept>
#include <vector>

namespace sprites {

namespace {

gboolean GoOn(GSource*, GSourceFunc, gpointer) { return G_SOURCE_CONTINUE; }

GSourceFuncs kFunctions = {nullptr, nullptr, GoOn, nullptr, nullptr, nullptr};

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

MainLoop::MainLoop(bool uses_wayland) : source_(g_source_new(&kFunctions, sizeof(GSource))) {
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
  // Otherwise GLib forgets what is ready when it has told.
  g_source_set_can_recurse(source_.get(), TRUE);
  g_source_attach(source_.get(), nullptr);
}

void MainLoop::Wait(std::span<pollfd> sources) {
  const auto is_same = [](const pollfd& one, const pollfd& other) {
    return one.fd == other.fd && one.events == other.events;
  };
  if (!std::ranges::equal(sources, watched_, is_same)) {
    Watch(sources);
  }
  g_main_context_iteration(nullptr, TRUE);
  for (size_t i = 0; i < sources.size(); i++) {
    const bool is_watched = tags_[i] != nullptr;
    sources[i].revents =
        is_watched ? static_cast<short>(g_source_query_unix_fd(source_.get(), tags_[i])) : short{0};
  }
}

// Each change wakes the loop once for nothing.
void MainLoop::Watch(std::span<const pollfd> sources) {
  for (const gpointer tag : tags_) {
    if (tag != nullptr) {
      g_source_remove_unix_fd(source_.get(), tag);
    }
  }
  tags_.clear();
  for (const pollfd& one : sources) {
    tags_.push_back(one.fd < 0 ? nullptr
                               : g_source_add_unix_fd(source_.get(), one.fd,
                                                      static_cast<GIOCondition>(one.events)));
  }
  watched_.assign(sources.begin(), sources.end());
}

}  // namespace sprites
