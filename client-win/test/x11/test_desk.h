// A connection to the X server for tests, and what they do with it.
#ifndef CLIENT_WIN_TEST_X11_TEST_DESK_H_
#define CLIENT_WIN_TEST_X11_TEST_DESK_H_

#include <doctest/doctest.h>
#include <poll.h>
#include <xcb/xcb.h>

#include <cstdlib>

#include "x11/system/event_queue.h"
#include "x11/system/x_connection.h"

namespace sprites {

// Whether there is an X server; says so if there is none.
inline bool HasServer() {
  const bool has_server = std::getenv("DISPLAY") != nullptr;
  if (!has_server) {
    MESSAGE("there is no X server");
  }
  return has_server;
}

// The next event of this type, at most 20 s from now; null when none comes.
inline OwnedEvent WaitForEvent(const XConnection& x, uint8_t type) {
  constexpr int kWaitMsMax = 20'000;
  for (;;) {
    xcb_flush(x.get());
    OwnedEvent event(xcb_poll_for_event(x.get()));
    if (event != nullptr && TypeOfEvent(*event) == type) {
      return event;
    }
    pollfd source{xcb_get_file_descriptor(x.get()), POLLIN, 0};
    if (event == nullptr && poll(&source, 1, kWaitMsMax) != 1) {
      return nullptr;
    }
  }
}

// Waits until the server has done everything that was asked of it.
inline void Sync(const XConnection& x) {
  const Reply<xcb_get_input_focus_reply_t> reply(
      xcb_get_input_focus_reply(x.get(), xcb_get_input_focus(x.get()), nullptr));
}

}  // namespace sprites

#endif  // CLIENT_WIN_TEST_X11_TEST_DESK_H_
