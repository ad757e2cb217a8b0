#include "core/screen/managed_window.h"

#include <doctest/doctest.h>

#include <vector>

namespace sprites {
namespace {

ManagedWindow Letter() {
  ManagedWindow window;
  window.id = 7;
  window.client = {100, 120, 500, 400};
  window.frame = {2, 2, 20, 4};
  window.desktop = 1;
  return window;
}

bool IsSeen(const ManagedWindow& window) { return AreaOf(window, 1, false).has_value(); }

TEST_CASE("managed window › is as large as its frame") {
  const auto area = AreaOf(Letter(), 1, true);
  REQUIRE(area);
  CHECK(*area == WindowArea{7, {98, 100, 502, 404}, true, true, true});
}

TEST_CASE("managed window › does not count the shadow that a program draws itself") {
  ManagedWindow window = Letter();
  window.frame = {};
  window.shadow = {26, 26, 23, 29};
  const auto area = AreaOf(window, 1, false);
  REQUIRE(area);
  CHECK(area->rect == Rect{126, 143, 474, 371});
  CHECK(area->has_caption);
}

TEST_CASE("managed window › is not seen while minimised, on another desktop, or not a window") {
  CHECK(IsSeen(Letter()));
  ManagedWindow window = Letter();
  window.is_hidden = true;
  CHECK(!IsSeen(window));
  window = Letter();
  window.desktop = 0;
  CHECK(!IsSeen(window));
  window.desktop = kAllDesktops;
  CHECK(IsSeen(window));
  window = Letter();
  window.is_viewable = false;
  CHECK(!IsSeen(window));
  for (const ManagedType type :
       {ManagedType::kDock, ManagedType::kDesktop, ManagedType::kPassing}) {
    window = Letter();
    window.type = type;
    CHECK(!IsSeen(window));
  }
  window = Letter();
  window.client.right = window.client.left - 4;
  CHECK(!IsSeen(window));
}

TEST_CASE("managed window › a rolled up one is its title bar") {
  ManagedWindow window = Letter();
  window.is_shaded = true;
  window.is_viewable = false;
  const auto area = AreaOf(window, 1, false);
  REQUIRE(area);
  CHECK(area->rect == Rect{98, 100, 502, 124});
}

TEST_CASE("managed window › full-screen programs carry no sprites and hide them") {
  const Screen screen(std::vector<Monitor>{{{0, 0, 1280, 800}, {0, 0, 1280, 800}, 1, true}});
  const auto covers = [&](const ManagedWindow& window) -> bool {
    const auto area = AreaOf(window, 1, true);
    REQUIRE(area);
    return FullScreenMonitors(std::vector<WindowArea>{*area}, screen)[0];
  };
  ManagedWindow film = Letter();
  film.client = {0, 0, 1280, 800};
  film.frame = {};
  film.is_full_screen = true;
  CHECK(covers(film));
  CHECK(!AreaOf(film, 1, true)->is_ground);
  // A game that is as large as the monitor and has no frame.
  film.is_full_screen = false;
  CHECK(covers(film));
  // An editor with a title bar of its own, maximised where there is no panel.
  film.is_maximised = true;
  CHECK(!covers(film));
}

}  // namespace
}  // namespace sprites
