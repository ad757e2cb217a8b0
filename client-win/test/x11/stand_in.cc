// A window of another program, for the tests.
//   x11-stand-in TITLE X Y WIDTH HEIGHT [COLOUR]    a window at that place, 0xRRGGBB
//   x11-stand-in TITLE full                         a full-screen program
//   x11-stand-in TITLE drag TYPE FILE               a window to drag the file's content from
//
// It ends when its window is closed.
#include <xcb/xcb.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "test/x11/drag_source.h"

namespace {

constexpr uint32_t kPlaceAndSize = 1 | 2;  // WM_NORMAL_HINTS: the person has chosen both
constexpr uint32_t kUsualColour = 0xECEFF4;
constexpr uint32_t kDragSide = 120;  // px

// What the command line asks for.
struct Wanted {
  std::string_view title;
  bool is_full = false;
  bool is_drag = false;
  const char* type = nullptr;  // what can be dragged from the window, and the file with it
  const char* file = nullptr;
  uint32_t left = 0;
  uint32_t top = 0;
  uint32_t width = kDragSide;
  uint32_t height = kDragSide;
  uint32_t colour = kUsualColour;
};

// Nothing when the words are not as the usage says.
std::optional<Wanted> ReadWords(std::span<char* const> words) {
  Wanted wanted;
  wanted.is_full = words.size() == 3 && strcmp(words[2], "full") == 0;
  wanted.is_drag = words.size() == 5 && strcmp(words[2], "drag") == 0;
  if (!wanted.is_full && !wanted.is_drag && words.size() != 6 && words.size() != 7) {
    return std::nullopt;
  }
  wanted.title = words[1];
  if (wanted.is_drag) {
    wanted.type = words[3];
    wanted.file = words[4];
  } else if (!wanted.is_full) {
    const auto number = [&](size_t i) { return static_cast<uint32_t>(std::atoi(words[i])); };
    wanted.left = number(2);
    wanted.top = number(3);
    wanted.width = number(4);
    wanted.height = number(5);
  }
  if (words.size() == 7) {
    wanted.colour = static_cast<uint32_t>(std::strtoul(words[6], nullptr, 0));
  }
  return wanted;
}

xcb_atom_t AtomOf(xcb_connection_t* x, std::string_view name) {
  const std::unique_ptr<xcb_intern_atom_reply_t, decltype(&std::free)> reply(
      xcb_intern_atom_reply(
          x, xcb_intern_atom(x, 0, static_cast<uint16_t>(name.size()), name.data()), nullptr),
      &std::free);
  return reply == nullptr ? xcb_atom_t{XCB_ATOM_NONE} : reply->atom;
}

xcb_window_t MakeWindow(xcb_connection_t* x, const xcb_screen_t& screen, const Wanted& wanted) {
  const xcb_window_t window = xcb_generate_id(x);
  xcb_create_window(x, XCB_COPY_FROM_PARENT, window, screen.root, static_cast<int16_t>(wanted.left),
                    static_cast<int16_t>(wanted.top), static_cast<uint16_t>(wanted.width),
                    static_cast<uint16_t>(wanted.height), 0, XCB_WINDOW_CLASS_INPUT_OUTPUT,
                    XCB_COPY_FROM_PARENT, XCB_CW_BACK_PIXEL, &wanted.colour);
  if (wanted.is_drag) {
    const uint32_t events =
        XCB_EVENT_MASK_BUTTON_PRESS | XCB_EVENT_MASK_BUTTON_RELEASE | XCB_EVENT_MASK_BUTTON_MOTION;
    xcb_change_window_attributes(x, window, XCB_CW_EVENT_MASK, &events);
  }
  return window;
}

// Tells the window manager its title, its place, its state, and that it wants to be asked to close.
void SetHints(xcb_connection_t* x, xcb_window_t window, const Wanted& wanted, xcb_atom_t close) {
  const auto set_atom = [&](const char* name, xcb_atom_t value) {
    xcb_change_property(x, XCB_PROP_MODE_REPLACE, window, AtomOf(x, name), XCB_ATOM_ATOM, 32, 1,
                        &value);
  };
  xcb_change_property(x, XCB_PROP_MODE_REPLACE, window, XCB_ATOM_WM_NAME, XCB_ATOM_STRING, 8,
                      static_cast<uint32_t>(wanted.title.size()), wanted.title.data());
  const uint32_t hints[18] = {kPlaceAndSize, wanted.left, wanted.top, wanted.width, wanted.height};
  xcb_change_property(x, XCB_PROP_MODE_REPLACE, window, XCB_ATOM_WM_NORMAL_HINTS,
                      XCB_ATOM_WM_SIZE_HINTS, 32, 18, hints);
  set_atom("WM_PROTOCOLS", close);
  if (wanted.is_full) {
    set_atom("_NET_WM_STATE", AtomOf(x, "_NET_WM_STATE_FULLSCREEN"));
  }
}

// Returns when the window is closed, or the server has ended.
void HandleEvents(xcb_connection_t* x, xcb_atom_t close, sprites::DragSource* drag) {
  for (;;) {
    const std::unique_ptr<xcb_generic_event_t, decltype(&std::free)> event(xcb_wait_for_event(x),
                                                                           &std::free);
    if (event == nullptr) {
      return;
    }
    if (drag != nullptr) {
      drag->HandleEvent(*event);
    }
    if ((event->response_type & 0x7F) == XCB_CLIENT_MESSAGE &&
        reinterpret_cast<const xcb_client_message_event_t*>(event.get())->data.data32[0] == close) {
      return;
    }
  }
}

}  // namespace

int main(int count, char** words) {
  auto wanted = ReadWords({words, static_cast<size_t>(count)});
  if (!wanted) {
    fputs("Usage: x11-stand-in TITLE (full | drag TYPE FILE | X Y WIDTH HEIGHT [COLOUR])\n",
          stderr);
    return 2;
  }
  xcb_connection_t* x = xcb_connect(nullptr, nullptr);
  if (xcb_connection_has_error(x) != 0) {
    return 1;
  }
  const xcb_screen_t& screen = *xcb_setup_roots_iterator(xcb_get_setup(x)).data;
  if (wanted->is_full) {
    wanted->width = screen.width_in_pixels;
    wanted->height = screen.height_in_pixels;
  }
  const xcb_atom_t close = AtomOf(x, "WM_DELETE_WINDOW");
  const xcb_window_t window = MakeWindow(x, screen, *wanted);
  SetHints(x, window, *wanted, close);
  std::optional<sprites::DragSource> drag;
  if (wanted->is_drag) {
    std::ifstream file(wanted->file, std::ios::binary);
    drag.emplace(
        x, screen.root, window, [x](std::string_view name) { return AtomOf(x, name); },
        wanted->type, std::string(std::istreambuf_iterator<char>(file), {}));
  }
  xcb_map_window(x, window);
  xcb_flush(x);
  HandleEvents(x, close, drag ? &*drag : nullptr);
  xcb_disconnect(x);
  return 0;
}
