// The edge that the person wants to look through: one at which the pointer rests for a moment, or
// one chosen from a menu.
//
// A function of pointer, choices and time. While a sprite is held or a button is down, there is no
// such edge. Cost: O(monitors) a call.
#ifndef CLIENT_WIN_CORE_SCREEN_PEEK_GESTURE_H_
#define CLIENT_WIN_CORE_SCREEN_PEEK_GESTURE_H_

#include <cstdint>
#include <optional>

#include "core/screen/geometry.h"

namespace sprites {

// dip from an edge within which a resting pointer opens the view. A page has 14, because a pointer
// leaves a page at its edge. A screen stops the pointer there, and task bars and scroll bars lie at
// its edges, so here the pointer must be pushed against the edge.
constexpr double kPeekZone = 2;
constexpr int64_t kPeekRestMs = 500;    // a pointer that passes by, or throws, opens nothing
constexpr int64_t kPeekLingerMs = 300;  // after the pointer has left the view: hands tremble
constexpr double kPeekDepthMax = 320;   // dip that are seen beyond an edge
constexpr double kPeekShareMax = 0.4;   // of a monitor's side: at most this share shows them

// How many dip are seen beyond an edge of a monitor.
double PeekDepth(Edge edge, const Monitor& monitor);

class PeekGesture {
 public:
  // The pointer is here. `is_busy`: a button is down, so it drags something.
  void SetPointer(Point point, const Screen& screen, bool is_busy, int64_t now_ms);
  // The pointer is nowhere.
  void Leave(int64_t now_ms);
  // Looks through this edge, or none, until the next choice.
  void Choose(std::optional<Edge> edge);
  void Stop();

  // The edge to look through now.
  std::optional<Edge> EdgeAt(int64_t now_ms);
  std::optional<Edge> chosen() const { return chosen_; }
  // When EdgeAt next returns something else, if nothing is reported first; the largest value for
  // never.
  int64_t NextMs() const;

 private:
  struct Resting {
    Edge edge;
    int64_t since_ms;
  };
  struct Open {
    Edge edge;
    std::optional<int64_t> left_ms;  // when the pointer left the view; nothing while it is inside
  };

  std::optional<Resting> resting_;  // where the pointer is at an edge
  std::optional<Open> open_;        // by the pointer
  std::optional<Edge> chosen_;
  bool was_chosen_now_ = false;  // the button that chose it may still be down
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCREEN_PEEK_GESTURE_H_
