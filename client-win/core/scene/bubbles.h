// Where speech bubbles are: beside the sprite of their speaker or at an edge of the desktop, so
// that no two cover each other and each is inside its room.
//
// A function of the bubbles and their sizes. Source: BEHAVIOUR.md, "Bubbles", whose vectors this
// plays. Units: px of the virtual screen; `scale` is px a dip. Cost: O(bubbles⁴), with at most 8.
#ifndef CLIENT_WIN_CORE_SCENE_BUBBLES_H_
#define CLIENT_WIN_CORE_SCENE_BUBBLES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/screen/geometry.h"

namespace sprites {

// Sizes in dip.
constexpr double kBubbleWidthMax = 260;  // with padding
constexpr double kBubbleGap = 8;         // to what it belongs to, and between two bubbles
constexpr double kTailInset = 16;        // from the tail to the corners of its bubble, at least
constexpr double kSideways = 2;  // px up or down that a px sideways counts as: bubbles are stacked

// What a bubble belongs to.
struct BubblePost {
  Rect room;                      // where it may be
  double scale = 1;               // there
  std::optional<Rect> sprite;     // the box of the speaker's sprite
  Edge edge = Edge::kTop;         // without a sprite
  bool has_tail_at_edge = false;  // it points at a neighbour beyond `edge`
};

struct BubbleSize {
  double width = 0;
  double height = 0;
};

struct BubblePlace {
  Rect box;
  std::optional<Edge> tail;  // the side of the box that it is on; nothing without a tail
  double tail_at = 0;        // px from the left, or the top, of the box to its tip
};

struct PlacedBubble {
  BubblePost post;
  BubbleSize size;
};

// A place for each bubble, newest first; nothing for one that has no room now. No bubble covers an
// obstacle.
std::vector<std::optional<BubblePlace>> PlaceBubbles(std::span<const PlacedBubble> newest_first,
                                                     std::span<const Rect> obstacles);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCENE_BUBBLES_H_
