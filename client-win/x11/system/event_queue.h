// Reads the events of X that one turn handles.
//
// Invariant: a turn reads at most kEventsPerTurnMax, so a program that floods the server does not
// stop the sprites; the others wait for the next turn.
#ifndef CLIENT_WIN_X11_SYSTEM_EVENT_QUEUE_H_
#define CLIENT_WIN_X11_SYSTEM_EVENT_QUEUE_H_

#include <xcb/xcb.h>

#include <cstddef>
#include <utility>

#include "x11/system/event.h"
#include "x11/system/x_connection.h"

namespace sprites {

constexpr size_t kEventsPerTurnMax = 4'096;  // a mouse of 8000 Hz sends 500 between two slow frames

using OwnedEvent = Reply<xcb_generic_event_t>;

// While a key is held down, X repeats a release and a press that have the same time. Such a release
// is not the end of the key.
inline bool IsRepeatedRelease(const OwnedEvent& event, const OwnedEvent& next) {
  if (event == nullptr || next == nullptr || TypeOfEvent(*event) != XCB_KEY_RELEASE ||
      TypeOfEvent(*next) != XCB_KEY_PRESS) {
    return false;
  }
  const auto& release = As<xcb_key_release_event_t>(*event);
  const auto& press = As<xcb_key_press_event_t>(*next);
  return release.time == press.time && release.detail == press.detail;
}

// Calls `handle` with each event. `read` returns the next one, `read_queued` the next one without
// asking the server; null for none. Returns the number of events that were read.
template <class Read, class ReadQueued, class Handle>
size_t HandleTurnsEvents(Read read, ReadQueued read_queued, Handle handle) {
  size_t count = 0;
  const auto pop = [&count](auto& source) {
    OwnedEvent event(count < kEventsPerTurnMax ? source() : nullptr);
    count += event != nullptr ? 1 : 0;
    return event;
  };
  OwnedEvent event = pop(read);
  while (event != nullptr) {
    OwnedEvent next = pop(read_queued);
    if (!IsRepeatedRelease(event, next)) {
      handle(*event);
    }
    event = next != nullptr ? std::move(next) : pop(read);
  }
  return count;
}

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_EVENT_QUEUE_H_
