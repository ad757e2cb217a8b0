#include "core/scene/pane.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/screen/peek_gesture.h"

namespace sprites {

namespace {

// Light, so that dark silhouettes are seen on it whatever is behind it.
constexpr uint8_t kPaneColour[] = {236, 232, 255};  // red, green, blue
constexpr uint8_t kLineColour[] = {106, 88, 245};
constexpr double kPaneAlphaFar = 0.92;  // at the edge of the screen
constexpr double kPaneAlphaNear = 0.7;  // at the line
constexpr double kLineDip = 2;

void AddPixel(Bytes* rgba, const uint8_t (&colour)[3], double alpha) {
  rgba->insert(rgba->end(),
               {colour[0], colour[1], colour[2], static_cast<uint8_t>(std::lround(alpha * 255))});
}

// A row, or for the upper and the lower edge a column, from left to right or from top to bottom.
SheetPointer PaneSheet(Edge edge, int depth, int line) {
  auto sheet = std::make_shared<Sheet>();
  sheet->description.name = "Pane";
  sheet->width = sheet->description.frame_width = IsSide(edge) ? depth : 1;
  sheet->height = sheet->description.frame_height = IsSide(edge) ? 1 : depth;
  sheet->description.animations["idle"] = {{0}, 1};
  const bool ends_with_line = !IsFar(edge);
  for (int i = 0; i < depth; i++) {
    const int from_line = ends_with_line ? depth - 1 - i : i;
    const double far = static_cast<double>(from_line) / depth;
    if (from_line < line) {
      AddPixel(&sheet->rgba, kLineColour, 1);
    } else {
      AddPixel(&sheet->rgba, kPaneColour, kPaneAlphaNear + (kPaneAlphaFar - kPaneAlphaNear) * far);
    }
  }
  return sheet;
}

Point MiddleOf(Edge edge, const Rect& rect) {
  const double side = rect.*SideAt(edge);
  return IsSide(edge) ? Point{side, (rect.top + rect.bottom) / 2}
                      : Point{(rect.left + rect.right) / 2, side};
}

}  // namespace

std::vector<Pane> PanesAlong(Edge edge, const Screen& screen) {
  std::vector<Pane> panes;
  for (size_t i = 0; i < screen.monitors().size(); i++) {
    const Monitor& monitor = screen.monitors()[i];
    const Point middle = MiddleOf(edge, monitor.bounds);
    if (screen.EnterBy(edge, screen.Along(edge, middle)).monitor != i) {
      continue;
    }
    const double depth = std::max(1.0, std::round(PeekDepth(edge, monitor) * monitor.scale));
    Rect rect = monitor.work;
    const double outer = rect.*SideAt(edge);
    rect.*SideAt(Opposite(edge)) = IsFar(edge) ? outer - depth : outer + depth;
    const int line = std::max(1, static_cast<int>(std::lround(kLineDip * monitor.scale)));
    panes.push_back({edge, i, rect, PaneSheet(edge, static_cast<int>(depth), line)});
  }
  return panes;
}

bool IsSamePlace(const std::vector<Pane>& one, const std::vector<Pane>& other) {
  return std::ranges::equal(one, other, [](const Pane& a, const Pane& b) {
    return a.edge == b.edge && a.monitor == b.monitor && a.rect == b.rect;
  });
}

DrawnSprite Draw(const Pane& pane, SpriteId id) {
  DrawnSprite drawn;
  drawn.id = id;
  drawn.sheet = pane.sheet;
  drawn.x = static_cast<int>(std::lround(pane.rect.left));
  drawn.y = static_cast<int>(std::lround(pane.rect.top));
  drawn.width = std::max(1, static_cast<int>(std::lround(pane.rect.Width())));
  drawn.height = std::max(1, static_cast<int>(std::lround(pane.rect.Height())));
  return drawn;
}

std::optional<DrawnSprite> InPane(DrawnSprite drawn, const Pane& pane) {
  const DrawnSprite whole = Draw(pane, drawn.id);
  const int left = std::max(drawn.x, whole.x);
  const int top = std::max(drawn.y, whole.y);
  const int right = std::min(drawn.x + drawn.width, whole.x + whole.width);
  const int bottom = std::min(drawn.y + drawn.height, whole.y + whole.height);
  if (left >= right || top >= bottom) {
    return std::nullopt;
  }
  const Crop crop{left - drawn.x, top - drawn.y, right - left, bottom - top};
  if (crop != Crop{0, 0, drawn.width, drawn.height}) {
    drawn.crop = crop;
  }
  return drawn;
}

}  // namespace sprites
