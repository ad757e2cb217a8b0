#include "core/screen/geometry.h"

#include <algorithm>
#include <cmath>

#include "wire/rules.h"

namespace sprites {

namespace {

constexpr double kHeadroomDip = 32;       // dip above a ledge, so that a sprite on it is seen
constexpr double kLedgeWidthMin = 16;     // px: narrower parts are gaps between windows
constexpr double kCoveredPartMax = 0.25;  // of a film, by the windows in front of it

Monitor Fallback() {
  const Rect all{0, 0, 1024, 768};
  return {all, all, 1, true};
}

bool IsPossible(const Rect& rect) {
  const double sides[] = {rect.left, rect.top, rect.right, rect.bottom};
  return std::ranges::all_of(sides, [](double side) { return std::abs(side) <= kSideMax; }) &&
         rect.left < rect.right && rect.top < rect.bottom;
}

Rect Within(const Rect& inner, const Rect& outer) {
  return {std::clamp(inner.left, outer.left, outer.right),
          std::clamp(inner.top, outer.top, outer.bottom),
          std::clamp(inner.right, outer.left, outer.right),
          std::clamp(inner.bottom, outer.top, outer.bottom)};
}

double Outside(double value, double low, double high) {
  return std::max({low - value, value - high, 0.0});
}

double Distance(const Rect& rect, Point p) {
  return std::hypot(Outside(p.x, rect.left, rect.right), Outside(p.y, rect.top, rect.bottom));
}

// Removes [left, right] from the parts.
void CutOut(std::vector<Ledge>* parts, double left, double right) {
  std::vector<Ledge> kept;
  for (const Ledge& part : *parts) {
    if (left > part.left) {
      kept.push_back({part.left, std::min(part.right, left), part.y});
    }
    if (right < part.right) {
      kept.push_back({std::max(part.left, right), part.right, part.y});
    }
  }
  std::erase_if(kept, [](const Ledge& part) { return part.right - part.left < kLedgeWidthMin; });
  *parts = std::move(kept);
}

}  // namespace

Screen::Screen() : Screen(std::span<const Monitor>()) {}

Screen::Screen(std::span<const Monitor> monitors) {
  for (const Monitor& given : monitors) {
    if (monitors_.size() == kMonitorsMax) {
      break;
    }
    if (!IsPossible(given.bounds)) {
      continue;
    }
    Monitor monitor = given;
    monitor.work = Within(given.work, given.bounds);
    if (!IsPossible(monitor.work)) {
      monitor.work = monitor.bounds;
    }
    monitor.scale = given.scale >= kScaleMin && given.scale <= kScaleMax ? given.scale : 1;
    monitors_.push_back(monitor);
  }
  if (monitors_.empty()) {
    monitors_.push_back(Fallback());
  }
  bounds_ = monitors_[0].bounds;
  for (const Monitor& monitor : monitors_) {
    bounds_.left = std::min(bounds_.left, monitor.bounds.left);
    bounds_.top = std::min(bounds_.top, monitor.bounds.top);
    bounds_.right = std::max(bounds_.right, monitor.bounds.right);
    bounds_.bottom = std::max(bounds_.bottom, monitor.bounds.bottom);
  }
}

int Screen::DipWidth() const {
  const double scale = monitors_[PrimaryMonitor()].scale;
  return static_cast<int>(std::clamp(std::round(bounds_.Width() / scale), 1.0, rules::kScreenMax));
}

int Screen::DipHeight() const {
  const double scale = monitors_[PrimaryMonitor()].scale;
  return static_cast<int>(std::clamp(std::round(bounds_.Height() / scale), 1.0, rules::kScreenMax));
}

size_t Screen::MonitorAt(Point point, size_t last) const {
  if (last < monitors_.size() && monitors_[last].bounds.Contains(point)) {
    return last;
  }
  for (size_t i = 0; i < monitors_.size(); i++) {
    if (monitors_[i].bounds.Contains(point)) {
      return i;
    }
  }
  return last < monitors_.size() ? last : NearestMonitor(point);
}

size_t Screen::NearestMonitor(Point point) const {
  size_t nearest = 0;
  for (size_t i = 1; i < monitors_.size(); i++) {
    if (Distance(monitors_[i].bounds, point) < Distance(monitors_[nearest].bounds, point)) {
      nearest = i;
    }
  }
  return nearest;
}

size_t Screen::PrimaryMonitor() const {
  const auto primary = std::ranges::find(monitors_, true, &Monitor::is_primary);
  return primary == monitors_.end() ? 0 : static_cast<size_t>(primary - monitors_.begin());
}

Room Screen::RoomAt(Point middle, size_t monitor) const {
  const Monitor& home = monitors_[std::min(monitor, monitors_.size() - 1)];
  Room room{home.work, home.bounds, home.scale};
  if (monitors_.size() == 1) {
    return room;
  }
  const Rect& own = home.bounds;
  const Point p{std::clamp(middle.x, own.left, own.right - 1),
                std::clamp(middle.y, own.top, own.bottom - 1)};
  const auto beyond = [this](Point point) -> const Monitor* {
    const auto next = std::ranges::find_if(
        monitors_, [&](const Monitor& other) { return other.bounds.Contains(point); });
    return next == monitors_.end() ? nullptr : &*next;
  };
  // Each step goes to a monitor further out, so each of these loops ends.
  for (const Monitor* m = &home; m != nullptr; m = beyond({m->bounds.left - 1, p.y})) {
    room.edges.left = m->bounds.left;
    room.walls.left = m->work.left;
  }
  for (const Monitor* m = &home; m != nullptr; m = beyond({m->bounds.right, p.y})) {
    room.edges.right = m->bounds.right;
    room.walls.right = m->work.right;
  }
  for (const Monitor* m = &home; m != nullptr; m = beyond({p.x, m->bounds.top - 1})) {
    room.edges.top = m->bounds.top;
    room.walls.top = m->work.top;
  }
  bool on_floor = false;
  for (const Monitor* m = &home; m != nullptr; m = beyond({p.x, m->bounds.bottom})) {
    room.edges.bottom = m->bounds.bottom;
    if (!on_floor) {
      room.walls.bottom = m->work.bottom;
      on_floor = m->work.bottom < m->bounds.bottom;
    }
  }
  return room;
}

double Screen::Along(Edge edge, Point point) const {
  const double share = IsSide(edge) ? (point.y - bounds_.top) / bounds_.Height()
                                    : (point.x - bounds_.left) / bounds_.Width();
  return std::clamp(share, 0.0, 1.0);
}

Doorway Screen::EnterBy(Edge edge, double at) const {
  const bool is_side = IsSide(edge);
  const double share = at >= 0 && at <= 1 ? at : 0.5;
  const double along =
      is_side ? bounds_.top + share * bounds_.Height() : bounds_.left + share * bounds_.Width();
  Doorway door;
  double best_gap = 0;
  double best_depth = 0;
  for (size_t i = 0; i < monitors_.size(); i++) {
    const Rect& own = monitors_[i].bounds;
    const double low = is_side ? own.top : own.left;
    const double high = is_side ? own.bottom : own.right;
    // A side's end counts as inside only if no other monitor starts there.
    const double gap = along == high ? 0.5 : Outside(along, low, high);
    const double outer = own.*SideAt(edge);
    const double depth = IsFar(edge) ? -outer : outer;
    if (i > 0 && (gap > best_gap || (gap == best_gap && depth >= best_depth))) {
      continue;
    }
    best_gap = gap;
    best_depth = depth;
    const double place = std::clamp(along, low, high);
    door = {is_side ? Point{outer, place} : Point{place, outer}, i};
  }
  return door;
}

std::vector<Ledge> LedgesOf(std::span<const WindowArea> windows, const Screen& screen) {
  std::vector<Ledge> ledges;
  const auto used = windows.first(std::min(windows.size(), kWindowsMax));
  for (size_t i = 0; i < used.size(); i++) {
    const Rect& rect = used[i].rect;
    if (!IsPossible(rect)) {
      continue;
    }
    const Point middle{(rect.left + rect.right) / 2, rect.top};
    const Room room = screen.RoomAt(middle, screen.NearestMonitor(middle));
    const bool has_headroom = rect.top - room.walls.top >= kHeadroomDip * room.scale;
    if (!used[i].is_ground || !has_headroom || rect.top >= room.walls.bottom) {
      continue;
    }
    std::vector<Ledge> parts = {{rect.left, rect.right, rect.top}};
    for (const WindowArea& front : used.first(i)) {
      if (front.rect.top <= rect.top && front.rect.bottom > rect.top) {
        CutOut(&parts, front.rect.left, front.rect.right);
      }
    }
    ledges.insert(ledges.end(), parts.begin(), parts.end());
  }
  return ledges;
}

std::vector<bool> FullScreenMonitors(std::span<const WindowArea> windows, const Screen& screen) {
  std::vector<bool> covered(screen.monitors().size(), false);
  for (size_t i = 0; i < covered.size(); i++) {
    const Rect& own = screen.monitors()[i].bounds;
    double in_front = 0;  // px² of this monitor, at most
    for (const WindowArea& window : windows) {
      const Rect& over = window.rect;
      const bool is_full = !window.has_caption && over.left <= own.left && over.top <= own.top &&
                           over.right >= own.right && over.bottom >= own.bottom;
      const bool is_seen = in_front <= kCoveredPartMax * own.Width() * own.Height();
      covered[i] = covered[i] || (is_full && (window.is_foreground || is_seen));
      const Rect part = Within(over, own);
      in_front += part.Width() * part.Height();
    }
  }
  return covered;
}

}  // namespace sprites
