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

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_EVENT_H_
