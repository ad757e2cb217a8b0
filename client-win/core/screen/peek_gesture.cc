#include "core/screen/peek_gesture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace sprites {

namespace {

// dip from a point to each edge of the desktop, by Edge.
std::array<double, 4> DistancesTo(Point point, const Screen& screen) {
  const Room room = screen.RoomAt(point, screen.NearestMonitor(point));
  const Rect& edges = room.edges;
  // The last pixel inside counts as the edge itself: a pointer goes no further.
  return {(point.x - edges.left) / room.scale, (edges.right - 1 - point.x) / room.scale,
          (point.y - edges.top) / room.scale, (edges.bottom - 1 - point.y) / room.scale};
}

}  // namespace

double PeekDepth(Edge edge, const Monitor& monitor) {
  const double side =
      (IsSide(edge) ? monitor.bounds.Width() : monitor.bounds.Height()) / monitor.scale;
  return std::round(std::min(kPeekDepthMax, kPeekShareMax * side));
}

void PeekGesture::SetPointer(Point point, const Screen& screen, bool is_busy, int64_t now_ms) {
  if (is_busy) {
    if (!was_chosen_now_) {
      Stop();
    }
    return;
  }
  was_chosen_now_ = false;
  const auto distances = DistancesTo(point, screen);
  if (open_) {
    const Monitor& monitor = screen.monitors()[screen.NearestMonitor(point)];
    const bool is_inside =
        distances[static_cast<size_t>(open_->edge)] <= PeekDepth(open_->edge, monitor);
    open_->left_ms = is_inside ? std::nullopt : std::optional(open_->left_ms.value_or(now_ms));
  }
  const auto nearest = std::ranges::min_element(distances);
  if (*nearest > kPeekZone) {
    resting_.reset();
    return;
  }
  const auto edge = static_cast<Edge>(nearest - distances.begin());
  if (!resting_ || resting_->edge != edge) {
    resting_ = {edge, now_ms};
  }
}

void PeekGesture::Leave(int64_t now_ms) {
  resting_.reset();
  if (open_) {
    open_->left_ms = open_->left_ms.value_or(now_ms);
  }
}

void PeekGesture::Choose(std::optional<Edge> edge) {
  open_.reset();
  resting_.reset();
  chosen_ = edge;
  was_chosen_now_ = edge.has_value();
}

void PeekGesture::Stop() {
  open_.reset();
  resting_.reset();
  chosen_.reset();
}

std::optional<Edge> PeekGesture::EdgeAt(int64_t now_ms) {
  if (open_ && open_->left_ms && now_ms - *open_->left_ms >= kPeekLingerMs) {
    open_.reset();
  }
  const bool has_rested = resting_ && now_ms - resting_->since_ms >= kPeekRestMs;
  if (has_rested && (!open_ || open_->edge != resting_->edge)) {
    open_ = {resting_->edge, std::nullopt};
  }
  return open_ ? std::optional(open_->edge) : chosen_;
}

int64_t PeekGesture::NextMs() const {
  int64_t next = std::numeric_limits<int64_t>::max();
  if (resting_ && (!open_ || open_->edge != resting_->edge)) {
    next = resting_->since_ms + kPeekRestMs;
  }
  if (open_ && open_->left_ms) {
    next = std::min(next, *open_->left_ms + kPeekLingerMs);
  }
  return next;
}

}  // namespace sprites
