// The monitors, with their work areas and scales, as Windows has them now.
#ifndef CLIENT_WIN_WIN32_MONITORS_H_
#define CLIENT_WIN_WIN32_MONITORS_H_

#include <vector>

#include "core/screen/geometry.h"

namespace sprites {

std::vector<Monitor> MonitorsNow();

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_MONITORS_H_
