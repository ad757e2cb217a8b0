// GTK's main loop, and what the program waits for beside GTK.
//
// GTK has a connection of its own to the display. When an X server ends, GTK only stops to draw:
// the program learns of the end from its own connection. When a compositor ends, GTK ends the
// program. Threads: all calls on one.
#ifndef CLIENT_WIN_X11_SYSTEM_MAIN_LOOP_H_
#define CLIENT_WIN_X11_SYSTEM_MAIN_LOOP_H_

#include <glib.h>
#include <poll.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sprites {

class MainLoop {
 public:
  // Starts GTK, once in a process, for Wayland or for X. Throws std::runtime_error when there is no
  // such display.
  explicit MainLoop(bool uses_wayland);

  // Waits until GTK has handled something, or one of these is ready, which poll() would say too.
  void Wait(std::span<pollfd> sources);

 private:
  struct Destroy {
    void operator()(GSource* source) const {
      g_source_destroy(source);
      g_source_unref(source);
    }
  };

  void Watch(std::span<const pollfd> sources);

  std::unique_ptr<GSource, Destroy> source_;
  std::vector<pollfd> watched_;
  std::vector<gpointer> tags_;  // of GLib, one for each that is watched; null for none
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_MAIN_LOOP_H_
