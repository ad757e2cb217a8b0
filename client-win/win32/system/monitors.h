// The monitors, with their work areas and scales.
#ifndef CLIENT_WIN_WIN32_SYSTEM_MONITORS_H_
#define CLIENT_WIN_WIN32_SYSTEM_MONITORS_H_

#include <vector>

#include "core/screen/geometry.h"

namespace sprites {

// Asks Windows; empty if that fails.
std::vector<Monitor> MonitorsNow();

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_MONITORS_H_
