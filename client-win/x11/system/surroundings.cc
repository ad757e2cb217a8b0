#include "x11/system/surroundings.h"

#include <xcb/randr.h>

#include <algorithm>
#include <limits>

#include "x11/system/event.h"

namespace sprites {

namespace {

constexpr int64_t kWindowsLookMs = 100;  // between two looks at the windows
constexpr int64_t kWindowsLookMsStanding =
    16;  // likewise while a sprite stands on a window: a frame

}  // namespace

Surroundings::Surroundings(const XConnection* connection)
    : connection_(connection), watch_(connection), looked_ms_(-kWindowsLookMs) {
  xcb_randr_select_input(connection->get(), connection->root(),
                         XCB_RANDR_NOTIFY_MASK_SCREEN_CHANGE | XCB_RANDR_NOTIFY_MASK_CRTC_CHANGE |
                             XCB_RANDR_NOTIFY_MASK_OUTPUT_CHANGE);
}

void Surroundings::HandleEvent(const xcb_generic_event_t& event) {
  const uint8_t type = TypeOfEvent(event);
  const bool is_randr = type == connection_->first_randr_event() + XCB_RANDR_SCREEN_CHANGE_NOTIFY ||
                        type == connection_->first_randr_event() + XCB_RANDR_NOTIFY;
  // Desktops write their scale there.
  const bool is_scale =
      type == XCB_PROPERTY_NOTIFY &&
      As<xcb_property_notify_event_t>(event).window == connection_->root() &&
      As<xcb_property_notify_event_t>(event).atom == connection_->atom(Atom::RESOURCE_MANAGER);
  monitors_may_have_changed_ = monitors_may_have_changed_ || is_randr || is_scale;
  watch_.HandleEvent(event);
}

bool Surroundings::Update(Desktop* desktop, int64_t now_ms) {
  bool has_changed = false;
  const int scale = WindowScale();
  if (monitors_may_have_changed_ || scale != window_scale_) {
    window_scale_ = scale;
    monitors_may_have_changed_ = false;
    read_ = ReadMonitors(*connection_);
    has_changed = true;
  }
  if (watch_.MayHaveChanged() && now_ms - looked_ms_ >= LookMs(*desktop)) {
    looked_ms_ = now_ms;
    if (watch_.Look()) {
      desktop->look().SetWindows(watch_.windows());
    }
    has_changed = true;
  }
  if (has_changed && !read_.empty()) {
    const auto monitors = WithoutStruts(read_, watch_.struts());
    if (monitors != monitors_) {
      monitors_ = monitors;
      desktop->look().SetMonitors(monitors_);
    }
  }
  return has_changed;
}

double Surroundings::IdleMs(const Desktop& desktop, int64_t now_ms) const {
  if (monitors_may_have_changed_) {
    return 0;
  }
  return watch_.MayHaveChanged()
             ? static_cast<double>(std::max<int64_t>(0, looked_ms_ + LookMs(desktop) - now_ms))
             : std::numeric_limits<double>::max();
}

int64_t Surroundings::LookMs(const Desktop& desktop) const {
  return AnySpriteOnWindow(desktop.simulation()) ? kWindowsLookMsStanding : kWindowsLookMs;
}

}  // namespace sprites
