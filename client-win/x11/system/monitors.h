// The monitors, as RandR reports them.
#ifndef CLIENT_WIN_X11_SYSTEM_MONITORS_H_
#define CLIENT_WIN_X11_SYSTEM_MONITORS_H_

#include <span>
#include <vector>

#include "core/screen/geometry.h"
#include "core/screen/struts.h"
#include "x11/system/x_connection.h"

namespace sprites {

// By how much GTK enlarges windows: what the desktop has set, or GDK_SCALE. Cost: none.
int WindowScale();

// Their work areas are the whole monitors. A dip has the pixels that windows or texts have,
// whichever are larger. Cost: two round trips.
std::vector<Monitor> ReadMonitors(const XConnection& connection);

// The monitors without what the panels reserve.
std::vector<Monitor> WithoutStruts(std::vector<Monitor> monitors, std::span<const Strut> struts);

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_MONITORS_H_
