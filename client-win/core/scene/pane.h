// The panes in which a person sees what is beyond an edge: a strip along each monitor that ends
// there, with a line where the desktop of the neighbour begins.
//
// The desktop itself does not slide aside, because the windows of other programs would not.
// Cost: O(monitors²), and O(depth) for the picture.
#ifndef CLIENT_WIN_CORE_SCENE_PANE_H_
#define CLIENT_WIN_CORE_SCENE_PANE_H_

#include <cstddef>
#include <vector>

#include "core/scene/scene.h"
#include "core/screen/geometry.h"

namespace sprites {

struct Pane {
  Edge edge = Edge::kLeft;
  size_t monitor = 0;
  Rect rect;           // px, whole
  SheetPointer sheet;  // one frame as deep as the pane and one px long
};

// The panes along an edge: one for each monitor that ends there at the middle of its side.
std::vector<Pane> PanesAlong(Edge edge, const Screen& screen);

// Whether both cover the same places, so that the panes of one can be shown for the other.
bool IsSamePlace(const std::vector<Pane>& one, const std::vector<Pane>& other);

// How to draw a pane.
DrawnSprite Draw(const Pane& pane, SpriteId id);

// The sprite, cropped to the part of its frame that is in the pane. Nothing when it is outside.
std::optional<DrawnSprite> InPane(DrawnSprite drawn, const Pane& pane);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCENE_PANE_H_
