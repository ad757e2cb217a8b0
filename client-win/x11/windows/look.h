// What drawing needs of the person's desktop: the size of a pixel, the monitors, and whether
// windows can have shadows.
#ifndef CLIENT_WIN_X11_WINDOWS_LOOK_H_
#define CLIENT_WIN_X11_WINDOWS_LOOK_H_

#include <cmath>
#include <vector>

#include "core/screen/geometry.h"

namespace sprites {

struct Look {
  double scale = 1;  // px a dip
  bool is_composited = false;
  // On Wayland: windows without a frame are layers, and px are GTK's own pixels.
  bool has_layers = false;
  std::vector<Monitor> monitors;

  int Px(double dip) const { return static_cast<int>(std::lround(dip * scale)); }
  Rect PrimaryWork() const {
    const Screen screen(monitors);
    return screen.monitors()[screen.PrimaryMonitor()].work;
  }
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_LOOK_H_
