#include "core/scene/bubbles.h"

#include <algorithm>
#include <limits>

namespace sprites {

namespace {

Rect BoxAt(Point corner, const BubbleSize& size) {
  return {corner.x, corner.y, corner.x + size.width, corner.y + size.height};
}

// A coordinate that keeps `length` between `low` and `high`; at `low` if it is too long.
double Within(double value, double low, double high, double length) {
  return std::max(low, std::min(value, high - length));
}

// Where the bubble would be if it were the only one.
Point WishOf(const PlacedBubble& bubble) {
  const auto& [room, scale, sprite, edge, has_tail] = bubble.post;
  const auto& [width, height] = bubble.size;
  const double gap = kBubbleGap * scale;
  Point wish{(room.left + room.right - width) / 2, (room.top + room.bottom - height) / 2};
  if (sprite) {
    wish.x = (sprite->left + sprite->right - width) / 2;
    wish.y = sprite->top - gap - height;
    if (wish.y < room.top) {
      wish.y = sprite->bottom + gap;
    }
  } else {
    const double length = IsSide(edge) ? width : height;
    (IsSide(edge) ? wish.x : wish.y) = room.*SideAt(edge) - (IsFar(edge) ? length : 0);
  }
  return {Within(wish.x, room.left, room.right, width),
          Within(wish.y, room.top, room.bottom, height)};
}

bool IsTooNear(const Rect& one, const Rect& other, double gap) {
  return one.left < other.right + gap && one.right > other.left - gap &&
         one.top < other.bottom + gap && one.bottom > other.top - gap;
}

// The nearest free place to the wish, of those beside what is taken.
std::optional<Rect> FreePlace(const PlacedBubble& bubble, std::span<const Rect> taken) {
  const double gap = kBubbleGap * bubble.post.scale;
  const Rect& room = bubble.post.room;
  const Point wish = WishOf(bubble);
  std::vector<double> xs = {wish.x};
  std::vector<double> ys = {wish.y};
  for (const Rect& box : taken) {
    xs.insert(xs.end(), {box.left - gap - bubble.size.width, box.right + gap});
    ys.insert(ys.end(), {box.top - gap - bubble.size.height, box.bottom + gap});
  }
  std::optional<Rect> best;
  double best_distance = std::numeric_limits<double>::infinity();
  for (const double x : xs) {
    for (const double y : ys) {
      const Rect box = BoxAt({x, y}, bubble.size);
      const bool fits_x = x == wish.x || (box.left >= room.left && box.right <= room.right);
      const bool fits_y = y == wish.y || (box.top >= room.top && box.bottom <= room.bottom);
      const double dx = kSideways * (x - wish.x);
      const double dy = y - wish.y;
      const double distance = dx * dx + dy * dy;
      const bool is_free = std::ranges::none_of(
          taken, [&](const Rect& other) { return IsTooNear(box, other, gap); });
      if (fits_x && fits_y && is_free && distance < best_distance) {
        best = box;
        best_distance = distance;
      }
    }
  }
  return best;
}

BubblePlace WithTail(const BubblePost& post, const Rect& box) {
  BubblePlace place{box, std::nullopt, 0};
  if (!post.sprite) {
    const auto side = SideAt(post.edge);
    if (post.has_tail_at_edge && box.*side == post.room.*side) {
      place.tail = post.edge;
      place.tail_at = (IsSide(post.edge) ? box.Height() : box.Width()) / 2;
    }
    return place;
  }
  const Rect& sprite = *post.sprite;
  if (box.bottom <= sprite.top) {
    place.tail = Edge::kBottom;
  } else if (box.top >= sprite.bottom) {
    place.tail = Edge::kTop;
  }
  const double inset = kTailInset * post.scale;
  const double middle = (sprite.left + sprite.right) / 2 - box.left;
  place.tail_at = std::max(inset, std::min(middle, box.Width() - inset));
  return place;
}

}  // namespace

std::vector<std::optional<BubblePlace>> PlaceBubbles(std::span<const PlacedBubble> newest_first,
                                                     std::span<const Rect> obstacles) {
  std::vector<Rect> taken(obstacles.begin(), obstacles.end());
  std::vector<std::optional<BubblePlace>> places;
  for (const PlacedBubble& bubble : newest_first) {
    const auto box = FreePlace(bubble, taken);
    places.push_back(box ? std::optional(WithTail(bubble.post, *box)) : std::nullopt);
    if (box) {
      taken.push_back(*box);
    }
  }
  return places;
}

}  // namespace sprites
