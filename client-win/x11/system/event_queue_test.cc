#include "x11/system/event_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <vector>

namespace sprites {
namespace {

// Events as the server would send them.
struct EventSource {
  void Add(uint8_t type, uint32_t ms, uint8_t key) {
    auto* event = static_cast<xcb_key_press_event_t*>(calloc(1, sizeof(xcb_generic_event_t)));
    event->response_type = type;
    event->time = ms;
    event->detail = key;
    events.push_back(OwnedEvent(reinterpret_cast<xcb_generic_event_t*>(event)));
  }
  xcb_generic_event_t* Pop() {
    if (events.empty()) {
      return nullptr;
    }
    xcb_generic_event_t* event = events.front().release();
    events.pop_front();
    return event;
  }
  // The types of the events that a turn handles.
  std::vector<uint8_t> Turn() {
    std::vector<uint8_t> types;
    HandleTurnsEvents(
        [this] { return Pop(); }, [this] { return Pop(); },
        [&](const xcb_generic_event_t& event) { types.push_back(TypeOfEvent(event)); });
    return types;
  }

  std::deque<OwnedEvent> events;
};

TEST_CASE("event queue › events of a turn: one less than the limit, the limit, one more") {
  for (const size_t count : {kEventsPerTurnMax - 1, kEventsPerTurnMax, kEventsPerTurnMax + 1}) {
    EventSource source;
    for (size_t i = 0; i < count; i++) {
      source.Add(XCB_MOTION_NOTIFY, static_cast<uint32_t>(i), 0);
    }
    CHECK(source.Turn().size() == std::min(count, kEventsPerTurnMax));
    CHECK(source.Turn().size() == (count > kEventsPerTurnMax ? 1 : 0));  // none is lost
  }
}

TEST_CASE("event queue › the release of a key that repeats is left out, its end is not") {
  using Types = std::vector<uint8_t>;
  EventSource source;
  source.Add(XCB_KEY_PRESS, 1, 7);
  source.Add(XCB_KEY_RELEASE, 500, 7);
  source.Add(XCB_KEY_PRESS, 500, 7);
  source.Add(XCB_KEY_RELEASE, 540, 7);
  CHECK(source.Turn() == Types{XCB_KEY_PRESS, XCB_KEY_PRESS, XCB_KEY_RELEASE});
  // Another key, or the same one pressed again.
  source.Add(XCB_KEY_RELEASE, 600, 7);
  source.Add(XCB_KEY_PRESS, 600, 8);
  source.Add(XCB_KEY_RELEASE, 700, 8);
  source.Add(XCB_KEY_PRESS, 701, 8);
  CHECK(source.Turn() == Types{XCB_KEY_RELEASE, XCB_KEY_PRESS, XCB_KEY_RELEASE, XCB_KEY_PRESS});
  CHECK(source.Turn().empty());
}

}  // namespace
}  // namespace sprites
