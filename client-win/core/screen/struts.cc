#include "core/screen/struts.h"

#include <algorithm>

namespace sprites {

namespace {

// What the strut covers of the screen.
Rect AreaOf(const Strut& strut, const Rect& screen) {
  Rect area = IsSide(strut.side) ? Rect{screen.left, strut.from, screen.right, strut.to + 1}
                                 : Rect{strut.from, screen.top, strut.to + 1, screen.bottom};
  const double outer = screen.*SideAt(strut.side);
  area.*SideAt(Opposite(strut.side)) =
      IsFar(strut.side) ? outer - strut.depth : outer + strut.depth;
  return area;
}

bool Overlap(const Rect& one, const Rect& other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom &&
         other.top < one.bottom;
}

}  // namespace

Rect WorkAreaOf(const Rect& monitor, const Rect& screen, std::span<const Strut> struts) {
  Rect work = monitor;
  for (const Strut& strut : struts) {
    const Rect area = AreaOf(strut, screen);
    if (!Overlap(area, monitor)) {
      continue;
    }
    Rect less = work;
    double& side = less.*SideAt(strut.side);
    const double inner = area.*SideAt(Opposite(strut.side));
    side = IsFar(strut.side) ? std::min(side, inner) : std::max(side, inner);
    if (less.Width() * 2 >= monitor.Width() && less.Height() * 2 >= monitor.Height()) {
      work = less;
    }
  }
  return work;
}

}  // namespace sprites
