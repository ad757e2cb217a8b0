#include "core/app/sprite_hand.h"

#include <doctest/doctest.h>

#include <string>

namespace sprites {
namespace {

constexpr ClickLimits kLimits{4, 6, 400};
constexpr SpriteId kMiso = 1;
constexpr SpriteId kRex = 2;

class Recorder : public SpriteListener {
 public:
  void Grabbed(SpriteId, Point, double) override { heard += "grabbed "; }
  void Dragged(Point, double) override {}
  void Released(double) override { heard += "released "; }
  void Clicked(SpriteId) override {}
  void DoubleClicked() override {}
  void RightClicked(SpriteId, Point) override {}
  void Pressed(Key, bool, bool) override {}
  void Stepped(bool) override {}
  void KeysLost() override {}
  void Dropped(std::vector<std::filesystem::path>) override {}
  void MonitorsChanged() override {}

  std::string heard;
};

struct Pointer {
  Recorder recorder;
  SpriteHand hand{&recorder};

  Gesture Use(SpriteId id, Point from, Point to, uint32_t ms) {
    hand.Press(id, from, ms, kLimits);
    return hand.Release(to, ms + 50);
  }
  Gesture Click(SpriteId id, Point point, uint32_t ms) { return Use(id, point, point, ms); }
};

TEST_CASE("hand › px that the pointer may move: below the limit, the limit; more is a drag") {
  for (const double px : {3.0, 4.0, 5.0, 6.0, 7.0}) {
    const auto across = px <= kLimits.across ? Gesture::kClick : Gesture::kDrag;
    const auto down = px <= kLimits.down ? Gesture::kClick : Gesture::kDrag;
    CHECK(Pointer().Use(kMiso, {10, 10}, {10 + px, 10}, 0) == across);
    CHECK(Pointer().Use(kMiso, {10, 10}, {10 - px, 10}, 0) == across);
    CHECK(Pointer().Use(kMiso, {-10, 10}, {-10, 10 + px}, 0) == down);
    CHECK(Pointer().Use(kMiso, {-10, 10}, {-10, 10 - px}, 0) == down);
  }
}

TEST_CASE("hand › a drag that comes back to its start is a drag") {
  Pointer pointer;
  pointer.hand.Press(kMiso, {10, 10}, 0, kLimits);
  pointer.hand.Move({90, 10}, 20);
  CHECK(pointer.hand.Release({10, 10}, 40) == Gesture::kDrag);
}

TEST_CASE("hand › two clicks on a sprite are a double click within its time, not a ms later") {
  constexpr uint32_t kStart = UINT32_MAX - 100;  // the clock wraps
  for (const uint32_t ms : {kLimits.double_click - 1, kLimits.double_click}) {
    Pointer pointer;
    CHECK(pointer.Click(kMiso, {10, 10}, kStart) == Gesture::kClick);
    CHECK(pointer.Click(kMiso, {12, 10}, kStart + ms) == Gesture::kDoubleClick);
    CHECK(pointer.Click(kMiso, {12, 10}, kStart + 2 * ms) == Gesture::kClick);  // a third
  }
  Pointer late;
  late.Click(kMiso, {10, 10}, kStart);
  CHECK(late.Click(kMiso, {10, 10}, kStart + kLimits.double_click + 1) == Gesture::kClick);
  Pointer far;
  far.Click(kMiso, {10, 10}, 0);
  CHECK(far.Click(kMiso, {15, 10}, 100) == Gesture::kClick);
  Pointer other;
  other.Click(kMiso, {10, 10}, 0);
  CHECK(other.Click(kRex, {10, 10}, 100) == Gesture::kClick);
}

TEST_CASE("hand › a second press within the double-click time that becomes a drag is a drag") {
  Pointer pointer;
  pointer.Click(kMiso, {10, 10}, 0);
  pointer.recorder.heard.clear();
  CHECK(pointer.Use(kMiso, {10, 10}, {90, 40}, 100) == Gesture::kDrag);
  CHECK(pointer.recorder.heard == "grabbed released ");
  CHECK(pointer.Click(kMiso, {90, 40}, 200) == Gesture::kClick);  // a drag is no first click
}

TEST_CASE("hand › a sprite is released once when something else takes the pointer") {
  Pointer pointer;
  pointer.hand.Press(kMiso, {10, 10}, 0, kLimits);
  pointer.hand.Press(kRex, {10, 10}, 10, kLimits);
  CHECK(pointer.hand.held() == kMiso);
  pointer.hand.Lose(20);
  pointer.hand.Lose(30);
  CHECK(pointer.recorder.heard == "grabbed released ");
  CHECK(pointer.hand.held() == kNobody);
}

}  // namespace
}  // namespace sprites
