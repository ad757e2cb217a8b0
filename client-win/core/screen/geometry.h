// Monitors, their work areas, the windows of other programs, and what they mean for a sprite: how
// far it can go, what it stands on, and by which outer edge it leaves.
//
// Units: positions in pixels of the virtual screen (the shell's own), which may be negative; sizes
// and speeds of sprites in device-independent pixels (dip). A monitor's scale is pixels a dip.
// Cost: O(monitors) a call, no allocation.
#ifndef CLIENT_WIN_CORE_SCREEN_GEOMETRY_H_
#define CLIENT_WIN_CORE_SCREEN_GEOMETRY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wire/rules.h"

namespace sprites {

struct Point {
  double x = 0;
  double y = 0;
};

// Half open: it includes its left and top sides, but not its right and bottom sides.
struct Rect {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  double Width() const { return right - left; }
  double Height() const { return bottom - top; }
  bool Contains(Point p) const { return p.x >= left && p.x < right && p.y >= top && p.y < bottom; }
  bool operator==(const Rect&) const = default;
};

using rules::Edge;
using rules::Opposite;
constexpr bool IsSide(Edge edge) { return edge == Edge::kLeft || edge == Edge::kRight; }
// Whether coordinates grow towards the edge.
constexpr bool IsFar(Edge edge) { return edge == Edge::kRight || edge == Edge::kBottom; }
// The side of a rectangle at an edge.
constexpr double Rect::*SideAt(Edge edge) {
  constexpr double Rect::*kSides[] = {&Rect::left, &Rect::right, &Rect::top, &Rect::bottom};
  return kSides[static_cast<size_t>(edge)];
}

struct Monitor {
  Rect bounds;       // px: the whole monitor
  Rect work;         // px: without task bars; sprites stand on its lower edge
  double scale = 1;  // px a dip: 1.5 at 150 %
  bool is_primary = false;

  bool operator==(const Monitor&) const = default;
};

// A visible window of another program. The shell leaves out minimised and cloaked ones, and those
// that window_kind.h ignores.
struct WindowArea {
  uint64_t id = 0;          // chosen by the shell; a window keeps it
  Rect rect;                // px: the visible frame, without the shadow
  bool has_caption = true;  // or cannot be a film for another reason (window_kind.h)
  bool is_foreground = false;
  bool is_ground = true;  // false: it hides what is behind it, but carries no sprite

  bool operator==(const WindowArea&) const = default;
};

// A surface to stand on: a visible part of a window's top edge.
struct Ledge {
  double left = 0;
  double right = 0;
  double y = 0;
};

// How far one sprite can go from where it is.
struct Room {
  Rect walls;        // px: where it turns round, hits its head, and stands
  Rect edges;        // px: where this desktop ends; a sprite that passes them has left
  double scale = 1;  // px a dip here
};

// A point on an outer edge.
struct Doorway {
  Point point;         // px, on the edge itself
  size_t monitor = 0;  // the monitor that the edge belongs to
};

constexpr size_t kMonitorsMax = 16;     // monitors: what Windows drives at most on common hardware
constexpr double kScaleMin = 0.5;       // px a dip: a lower value is an error
constexpr double kScaleMax = 8;         // px a dip: Windows goes up to 5
constexpr double kSideMax = 1'000'000;  // px from the origin: keeps all arithmetic exact
constexpr size_t kWindowsMax = 256;     // windows used, from the front; those behind are covered

// All monitors together. Never empty: without a monitor it has one of 1024 × 768.
class Screen {
 public:
  Screen();
  // Uses at most kMonitorsMax; leaves out empty and impossible ones.
  explicit Screen(std::span<const Monitor> monitors);

  const std::vector<Monitor>& monitors() const { return monitors_; }
  // The smallest rectangle around all monitors. A place along an edge is a fraction of its side.
  const Rect& bounds() const { return bounds_; }
  // Its sides in dip of the primary monitor, 1 … 65535, for the join request.
  int DipWidth() const;
  int DipHeight() const;

  // The monitor that contains the point; else `last`, if it exists; else the nearest.
  size_t MonitorAt(Point point, size_t last) const;
  size_t NearestMonitor(Point point) const;
  size_t PrimaryMonitor() const;

  // The room of a sprite whose middle is at `middle` and was last on `monitor`. It extends through
  // all monitors that adjoin at this height and at this width. A task bar is a floor even where
  // another monitor lies below it.
  Room RoomAt(Point middle, size_t monitor) const;

  // Where `point` is along an edge of the desktop: 0 … 1 from the left or the top.
  double Along(Edge edge, Point point) const;
  // The outermost point of an edge at this fraction of it. Where staggered monitors leave a gap,
  // the nearest point that has a monitor. EnterBy(e, Along(e, p)) returns p for every p on an outer
  // edge.
  Doorway EnterBy(Edge edge, double at) const;

  bool operator==(const Screen&) const = default;

 private:
  std::vector<Monitor> monitors_;
  Rect bounds_;
};

// The surfaces to stand on: the parts of each window's top edge that no window in front covers, and
// that have room above them for a sprite to be seen. `windows` is front to back.
std::vector<Ledge> LedgesOf(std::span<const WindowArea> windows, const Screen& screen);

// For each monitor, whether a full-screen program covers it: a window without a caption covers the
// whole monitor, and is the foreground window or has nothing large in front of it there. So a film
// on one monitor counts while its user types on another. `windows` is front to back.
std::vector<bool> FullScreenMonitors(std::span<const WindowArea> windows, const Screen& screen);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCREEN_GEOMETRY_H_
