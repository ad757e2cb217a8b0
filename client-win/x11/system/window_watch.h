// The windows of other programs, as their window manager reports them (EWMH).
//
// Invariant: no request is made while nothing changes. The root window reports what windows there
// are, how they are stacked, which is active; each window reports its own moves and states. After
// such an event, Look asks for all of them at once. Without a window manager that knows EWMH there
// are no windows. Cost: a Look is two round trips, whatever the number of windows.
#ifndef CLIENT_WIN_X11_SYSTEM_WINDOW_WATCH_H_
#define CLIENT_WIN_X11_SYSTEM_WINDOW_WATCH_H_

#include <xcb/xcb.h>

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "core/screen/geometry.h"
#include "core/screen/managed_window.h"
#include "core/screen/struts.h"
#include "x11/system/x_connection.h"

namespace sprites {

// The longest chain of windows from a managed window up to its outermost frame, counting both:
// window managers use two or three.
constexpr int kAncestorsMax = 8;

class WindowWatch {
 public:
  explicit WindowWatch(const XConnection* connection);

  void HandleEvent(const xcb_generic_event_t& event);
  bool MayHaveChanged() const { return may_have_changed_; }
  // Asks for the windows as they are now. Returns whether windows() or struts() differ.
  bool Look();

  const std::vector<WindowArea>& windows() const { return windows_; }  // front to back
  const std::vector<Strut>& struts() const { return struts_; }
  // The highest window of another program that the window manager has placed, with its frame; none
  // if unknown.
  // Cost: up to three round trips.
  xcb_window_t TopFrame() const;

 private:
  void WatchNew(const std::vector<uint32_t>& clients);

  const XConnection* connection_;
  std::unordered_set<xcb_window_t> watched_;
  std::vector<WindowArea> windows_;
  std::vector<Strut> struts_;
  xcb_window_t top_ = XCB_WINDOW_NONE;
  bool may_have_changed_ = true;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_WINDOW_WATCH_H_
