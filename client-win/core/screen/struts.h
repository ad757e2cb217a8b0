// The part of a monitor that panels leave free, from the struts that panels reserve on X11
// (EWMH, _NET_WM_STRUT_PARTIAL).
//
// _NET_WORKAREA is not enough: it is one rectangle for all monitors together.
// Units: px of the virtual screen. Cost: O(struts) a monitor.
#ifndef CLIENT_WIN_CORE_SCREEN_STRUTS_H_
#define CLIENT_WIN_CORE_SCREEN_STRUTS_H_

#include <span>

#include "core/screen/geometry.h"

namespace sprites {

// What one panel reserves at one side of the whole screen.
struct Strut {
  Edge side = Edge::kBottom;
  double depth = 0;  // px from that side of the screen
  double from = 0;   // px along the side, both included
  double to = 0;
};

// `monitor` without the struts that lie on it. `screen` is the rectangle around all monitors. A
// strut that would leave less than half of a side of the monitor is ignored, because it is meant
// for another monitor.
Rect WorkAreaOf(const Rect& monitor, const Rect& screen, std::span<const Strut> struts);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCREEN_STRUTS_H_
