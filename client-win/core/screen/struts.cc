#include "core/screen/struts.h"

#include <algorithm>

namespace sprites {

namespace {

// What the strut covers of the screen.
Rect AreaOf(const Strut& strut, const Rect& screen) {
  switch (strut.side) {
    case Edge::kLeft:
      return {screen.left, strut.from, screen.left + strut.depth, strut.to + 1};
    case Edge::kRight:
      return {screen.right - strut.depth, strut.from, screen.right, strut.to + 1};
    case Edge::kTop:
      return {strut.from, screen.top, strut.to + 1, screen.top + strut.depth};
    case Edge::kBottom:
      return {strut.from, screen.bottom - strut.depth, strut.to + 1, screen.bottom};
  }
  return {};
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
    switch (strut.side) {
      case Edge::kLeft:
        less.left = std::max(less.left, area.right);
        break;
      case Edge::kRight:
        less.right = std::min(less.right, area.left);
        break;
      case Edge::kTop:
        less.top = std::max(less.top, area.bottom);
        break;
      case Edge::kBottom:
        less.bottom = std::min(less.bottom, area.top);
        break;
    }
    if (less.Width() * 2 >= monitor.Width() && less.Height() * 2 >= monitor.Height()) {
      work = less;
    }
  }
  return work;
}

}  // namespace sprites
