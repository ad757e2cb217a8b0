// Events of X as their own types.
#ifndef CLIENT_WIN_X11_SYSTEM_EVENT_H_
#define CLIENT_WIN_X11_SYSTEM_EVENT_H_

#include <xcb/xcb.h>

#include <cstdint>

namespace sprites {

// The number of an event's type, whether the server or another program has sent it.
inline uint8_t TypeOfEvent(const xcb_generic_event_t& event) { return event.response_type & 0x7F; }

// REQUIRES: the event is of this type.
template <class T>
const T& As(const xcb_generic_event_t& event) {
  return reinterpret_cast<const T&>(event);
}

// The window that the pointer, a key or the message of another program is for. XCB_WINDOW_NONE for
// events of other types.
inline xcb_window_t WindowOfInput(const xcb_generic_event_t& event) {
  switch (TypeOfEvent(event)) {
    case XCB_CLIENT_MESSAGE:
      return As<xcb_client_message_event_t>(event).window;
    case XCB_MOTION_NOTIFY:
      return As<xcb_motion_notify_event_t>(event).event;
    case XCB_BUTTON_PRESS:
    case XCB_BUTTON_RELEASE:
      return As<xcb_button_press_event_t>(event).event;
    case XCB_KEY_PRESS:
      return As<xcb_key_press_event_t>(event).event;
    default:
      return XCB_WINDOW_NONE;
  }
}

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_EVENT_H_
