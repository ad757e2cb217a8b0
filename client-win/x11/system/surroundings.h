// The surroundings of the sprites: the monitors, and the windows of other programs.
//
// Waits for events of the X server, then asks at most so often, and reports what has changed to the
// desktop. Threads: all calls on one. Cost: nothing while nothing changes.
#ifndef CLIENT_WIN_X11_SYSTEM_SURROUNDINGS_H_
#define CLIENT_WIN_X11_SYSTEM_SURROUNDINGS_H_

#include <xcb/xcb.h>

#include <cstdint>
#include <vector>

#include "core/desktop/desktop.h"
#include "x11/system/monitors.h"
#include "x11/system/window_watch.h"
#include "x11/system/x_connection.h"

namespace sprites {

class Surroundings {
 public:
  explicit Surroundings(const XConnection* connection);

  void HandleEvent(const xcb_generic_event_t& event);
  // Makes the checks that are due. Returns whether something has changed, which the desktop knows
  // now. Call it every turn.
  bool Update(Desktop* desktop, int64_t now_ms);
  // ms until a check is due; the largest value when none is.
  double IdleMs(const Desktop& desktop, int64_t now_ms) const;

  const std::vector<Monitor>& monitors() const { return monitors_; }
  xcb_window_t TopFrame() const { return watch_.TopFrame(); }

 private:
  int64_t LookMs(const Desktop& desktop) const;

  const XConnection* connection_;
  WindowWatch watch_;
  std::vector<Monitor> read_;
  std::vector<Monitor> monitors_;  // with their work areas
  bool monitors_may_have_changed_ = true;
  int window_scale_ = 0;  // when they were read
  int64_t looked_ms_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_SURROUNDINGS_H_
