#include "core/screen/struts.h"

#include <doctest/doctest.h>

#include <vector>

namespace sprites {
namespace {

constexpr Rect kLeftMonitor{0, 0, 1280, 800};
constexpr Rect kRightMonitor{1280, 0, 3200, 1080};
constexpr Rect kScreen{0, 0, 3200, 1080};

Rect WorkOf(const Rect& monitor, std::vector<Strut> struts) {
  return WorkAreaOf(monitor, kScreen, struts);
}

TEST_CASE("struts › without a panel, the whole monitor is free") {
  CHECK(WorkOf(kLeftMonitor, {}) == kLeftMonitor);
}

TEST_CASE("struts › a panel takes its side of its own monitor only") {
  const Strut bottom{Edge::kBottom, 40, 1280, 3199};
  CHECK(WorkOf(kRightMonitor, {bottom}) == Rect{1280, 0, 3200, 1040});
  CHECK(WorkOf(kLeftMonitor, {bottom}) == kLeftMonitor);
  CHECK(WorkOf(kLeftMonitor, {{Edge::kTop, 28, 0, 1279}}) == Rect{0, 28, 1280, 800});
  CHECK(WorkOf(kLeftMonitor, {{Edge::kLeft, 60, 0, 799}}) == Rect{60, 0, 1280, 800});
  CHECK(WorkOf(kRightMonitor, {{Edge::kRight, 60, 0, 1079}}) == Rect{1280, 0, 3140, 1080});
}

TEST_CASE("struts › a panel on a lower monitor counts from the bottom of the whole screen") {
  // 280 px below the monitor, and a panel of 30 px.
  CHECK(WorkOf(kLeftMonitor, {{Edge::kBottom, 310, 0, 1279}}) == Rect{0, 0, 1280, 770});
}

TEST_CASE("struts › two panels at one side count once, the deeper one") {
  CHECK(WorkOf(kLeftMonitor, {{Edge::kTop, 20, 0, 600}, {Edge::kTop, 30, 601, 1279}}) ==
        Rect{0, 30, 1280, 800});
}

TEST_CASE("struts › one that would leave less than half of the monitor is ignored") {
  // A panel at the left of the right monitor reserves all of the left one.
  const Strut between{Edge::kLeft, 1280 + 60, 0, 1079};
  CHECK(WorkOf(kLeftMonitor, {between}) == kLeftMonitor);
  CHECK(WorkOf(kRightMonitor, {between}) == Rect{1340, 0, 3200, 1080});
  CHECK(WorkOf(kLeftMonitor, {{Edge::kTop, 400, 0, 1279}}) == Rect{0, 400, 1280, 800});
  CHECK(WorkOf(kLeftMonitor, {{Edge::kTop, 401, 0, 1279}}) == kLeftMonitor);
}

}  // namespace
}  // namespace sprites
