#include "x11/windows/menu_window.h"

#include <doctest/doctest.h>
#include <xkbcommon/xkbcommon-keysyms.h>

#include <algorithm>
#include <optional>
#include <string>

#include "x11/test_desk.h"

namespace sprites {
namespace {

constexpr int kRow = 26;  // px of a row at 100 %
constexpr int kEnd = 5;   // px above the first row

// An open menu with so many entries, its corner at 0, 0; the choice has the index of the entry.
struct Room {
  explicit Room(int rows) {
    Menu items;
    for (int i = 0; i < rows; i++) {
      items.push_back(
          {"Entry " + std::to_string(i), {MenuCommand::kDropIn, static_cast<size_t>(i)}});
    }
    menu.Open(std::move(items), {0, 0},
              [this](const MenuChoice& choice) { chosen = choice.index; });
  }

  void Press(xkb_keysym_t symbol) {
    xcb_key_press_event_t event{};
    event.response_type = XCB_KEY_PRESS;
    for (int code = 8; code < 256; code++) {
      event.detail = static_cast<xcb_keycode_t>(code);
      if (keyboard.Read(event).symbol == symbol) {
        break;
      }
    }
    REQUIRE(keyboard.Read(event).symbol == symbol);
    menu.HandleEvent(reinterpret_cast<const xcb_generic_event_t&>(event));
  }
  // Presses and releases a button in the middle of a row as it is shown.
  void Click(int row, uint8_t button = 1) {
    for (const uint8_t type : {XCB_BUTTON_PRESS, XCB_BUTTON_RELEASE}) {
      xcb_generic_event_t bytes{};
      auto& event = reinterpret_cast<xcb_button_press_event_t&>(bytes);
      event.response_type = type;
      event.detail = button;
      event.root_x = 40;
      event.root_y = static_cast<int16_t>(kEnd + row * kRow + kRow / 2);
      menu.HandleEvent(bytes);
    }
  }

  XConnection x;
  Keyboard keyboard{x};
  Fonts fonts;
  Look look{&fonts, 1, false, {}};
  MenuWindow menu{&x, &keyboard, &look};
  std::optional<size_t> chosen;
};

TEST_CASE("menu window › rows shown: one less than the limit, the limit, one more") {
  if (!HasServer()) {
    return;
  }
  for (const int rows : {kRowsMax - 1, kRowsMax, kRowsMax + 1}) {
    CAPTURE(rows);
    const int shown = std::min(rows, kRowsMax);
    Room last(rows);
    last.Click(shown - 1);
    CHECK(last.chosen == static_cast<size_t>(shown - 1));
    Room below(rows);
    below.Click(shown);
    CHECK(!below.chosen);
    CHECK(!below.menu.is_open());
    // The wheel and the keys reach every entry.
    Room wheel(rows);
    wheel.Click(0, 5);
    wheel.Click(shown - 1);
    CHECK(wheel.chosen == static_cast<size_t>(rows - 1));
    Room keys(rows);
    keys.Press(XKB_KEY_Up);
    keys.Press(XKB_KEY_Return);
    CHECK(keys.chosen == static_cast<size_t>(rows - 1));
  }
}

TEST_CASE("menu window › tries to grab the pointer up to the limit, and closes then") {
  if (!HasServer()) {
    return;
  }
  const XConnection other;
  const auto grab = [&] {
    const Reply<xcb_grab_pointer_reply_t> reply(xcb_grab_pointer_reply(
        other.get(),
        xcb_grab_pointer(other.get(), 0, other.root(), XCB_EVENT_MASK_BUTTON_PRESS,
                         XCB_GRAB_MODE_ASYNC, XCB_GRAB_MODE_ASYNC, XCB_WINDOW_NONE, XCB_CURSOR_NONE,
                         XCB_CURRENT_TIME),
        nullptr));
    REQUIRE(reply != nullptr);
    REQUIRE(reply->status == XCB_GRAB_STATUS_SUCCESS);
  };
  grab();
  Room room(3);  // the first try
  for (int tries = 2; tries < kGrabTriesMax; tries++) {
    room.menu.Turn();
  }
  CHECK(room.menu.IsPending());
  room.menu.Turn();
  CHECK(!room.menu.is_open());
  // The last try may succeed.
  Room late(3);
  for (int tries = 2; tries < kGrabTriesMax; tries++) {
    late.menu.Turn();
  }
  CHECK(late.menu.IsPending());
  xcb_ungrab_pointer(other.get(), XCB_CURRENT_TIME);
  Sync(other);
  late.menu.Turn();
  CHECK(late.menu.is_open());
  CHECK(!late.menu.IsPending());
  late.menu.Close();
}

}  // namespace
}  // namespace sprites
