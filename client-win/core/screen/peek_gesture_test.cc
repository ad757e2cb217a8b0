#include "core/screen/peek_gesture.h"

#include <doctest/doctest.h>

#include <limits>

namespace sprites {
namespace {

// Two monitors of 900 × 600 dip side by side, the right one at 200 %.
Screen TwoMonitors() {
  const Rect left{0, 0, 900, 600};
  const Rect right{900, 0, 2700, 1200};
  return Screen(std::vector<Monitor>{{left, left, 1, true}, {right, right, 2, false}});
}

struct Pointing {
  std::optional<Edge> At(double x, double y, int64_t now_ms, bool is_busy = false) {
    gesture.SetPointer({x, y}, screen, is_busy, now_ms);
    return gesture.EdgeAt(now_ms);
  }

  Screen screen = TwoMonitors();
  PeekGesture gesture;
};

TEST_CASE("peek gesture › is a pointer that rests at an edge; one that passes by opens nothing") {
  Pointing one;
  CHECK(one.gesture.NextMs() == std::numeric_limits<int64_t>::max());
  CHECK(!one.At(kPeekZone, 300, 1'000));
  CHECK(one.gesture.NextMs() == 1'000 + kPeekRestMs);
  CHECK(!one.At(0, 310, 1'000 + kPeekRestMs - 1));
  CHECK(one.gesture.EdgeAt(1'000 + kPeekRestMs) == Edge::kLeft);  // also when it does not move
  Pointing other;
  other.At(0, 300, 1'000);
  other.At(kPeekZone + 1, 300, 1'100);
  CHECK(!other.At(0, 300, 1'000 + kPeekRestMs));
}

TEST_CASE("peek gesture › knows every edge, in dip, and none between two monitors") {
  const auto rest = [](double x, double y) {
    Pointing one;
    one.At(x, y, 0);
    return one.At(x, y, kPeekRestMs);
  };
  CHECK(rest(450, 0) == Edge::kTop);
  CHECK(rest(450, 599) == Edge::kBottom);
  CHECK(rest(2699, 600) == Edge::kRight);
  CHECK(rest(2699 - 2 * kPeekZone, 600) == Edge::kRight);
  CHECK(!rest(2698 - 2 * kPeekZone, 600));
  CHECK(!rest(899, 300));
  CHECK(!rest(901, 300));
  CHECK(rest(0, 1) == Edge::kLeft);  // the nearest edge of a corner
  CHECK(rest(1, 0) == Edge::kTop);
}

TEST_CASE(
    "peek gesture › lasts while the pointer is where the neighbour is seen, and a little longer") {
  Pointing one;
  one.At(0, 300, 0);
  CHECK(one.At(0, 300, 1'000) == Edge::kLeft);
  const double depth = PeekDepth(Edge::kLeft, one.screen.monitors()[0]);
  CHECK(one.At(depth, 300, 9'000) == Edge::kLeft);
  CHECK(one.At(depth + 1, 300, 10'000) == Edge::kLeft);
  CHECK(one.gesture.NextMs() == 10'000 + kPeekLingerMs);
  CHECK(one.gesture.EdgeAt(10'000 + kPeekLingerMs - 1) == Edge::kLeft);
  CHECK(!one.gesture.EdgeAt(10'000 + kPeekLingerMs));
  // A pointer that comes back in time keeps it open.
  one.At(0, 300, 20'000);
  one.At(0, 300, 21'000);
  one.At(depth + 1, 300, 21'100);
  one.At(depth, 300, 21'200);
  CHECK(one.gesture.EdgeAt(30'000) == Edge::kLeft);
  one.gesture.Leave(30'000);
  CHECK(!one.gesture.EdgeAt(30'000 + kPeekLingerMs));
}

TEST_CASE("peek gesture › is not made while a button is down, which also ends it") {
  Pointing one;
  one.At(0, 300, 0, true);
  CHECK(!one.At(0, 300, 5'000, true));
  one.At(0, 300, 6'000);
  CHECK(one.At(0, 300, 7'000) == Edge::kLeft);
  CHECK(!one.At(0, 300, 7'010, true));
}

TEST_CASE("peek gesture › is also a choice, which lasts until the next one or a press") {
  Pointing one;
  one.gesture.Choose(Edge::kTop);
  CHECK(one.gesture.chosen() == Edge::kTop);
  // The button that chose it in a menu is still down.
  CHECK(one.At(450, 300, 0, true) == Edge::kTop);
  CHECK(one.At(450, 300, 60'000) == Edge::kTop);
  one.At(0, 300, 60'100);
  CHECK(one.At(0, 300, 61'000) == Edge::kLeft);  // the pointer has the last word
  CHECK(!one.At(450, 300, 62'000, true));
  one.gesture.Choose(Edge::kTop);
  one.gesture.Choose(std::nullopt);
  CHECK(!one.gesture.EdgeAt(0));
  one.gesture.Choose(Edge::kTop);
  one.gesture.Stop();
  CHECK(!one.gesture.EdgeAt(0));
}

TEST_CASE("peek gesture › leaves most of a monitor to its own sprites") {
  const Rect wide{0, 0, 2000, 500};
  CHECK(PeekDepth(Edge::kLeft, {wide, wide, 1}) == kPeekDepthMax);
  CHECK(PeekDepth(Edge::kTop, {wide, wide, 1}) == kPeekShareMax * 500);
  CHECK(PeekDepth(Edge::kLeft, {wide, wide, 4}) == kPeekShareMax * 500);  // 500 dip wide
}

}  // namespace
}  // namespace sprites
