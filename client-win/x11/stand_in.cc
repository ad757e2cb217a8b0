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
#include <string>
#include <string_view>

#include "x11/drag_source.h"

namespace {

constexpr uint32_t kPlaceAndSize = 1 | 2;  // WM_NORMAL_HINTS: the person has chosen both
constexpr uint32_t kColour = 0xECEFF4;
constexpr uint32_t kDragSide = 120;  // px

xcb_atom_t AtomOf(xcb_connection_t* x, std::string_view name) {
  const std::unique_ptr<xcb_intern_atom_reply_t, decltype(&std::free)> reply(
      xcb_intern_atom_reply(
          x, xcb_intern_atom(x, 0, static_cast<uint16_t>(name.size()), name.data()), nullptr),
      &std::free);
  return reply == nullptr ? xcb_atom_t{XCB_ATOM_NONE} : reply->atom;
}

}  // namespace

int main(int count, char** words) {
  const bool is_full = count == 3 && strcmp(words[2], "full") == 0;
  const bool is_drag = count == 5 && strcmp(words[2], "drag") == 0;
  if (!is_full && !is_drag && count != 6 && count != 7) {
    fputs("Usage: x11-stand-in TITLE (full | drag TYPE FILE | X Y WIDTH HEIGHT [COLOUR])\n",
          stderr);
    return 2;
  }
  xcb_connection_t* x = xcb_connect(nullptr, nullptr);
  if (xcb_connection_has_error(x) != 0) {
    return 1;
  }
  const xcb_screen_t* screen = xcb_setup_roots_iterator(xcb_get_setup(x)).data;
  const auto number = [&](int i) { return static_cast<uint32_t>(std::atoi(words[i])); };
  const uint32_t left = is_full || is_drag ? 0 : number(2);
  const uint32_t top = is_full || is_drag ? 0 : number(3);
  const uint32_t width = is_full ? screen->width_in_pixels : is_drag ? kDragSide : number(4);
  const uint32_t height = is_full ? screen->height_in_pixels : is_drag ? kDragSide : number(5);
  const uint32_t colour =
      count == 7 ? static_cast<uint32_t>(std::strtoul(words[6], nullptr, 0)) : kColour;
  const xcb_window_t window = xcb_generate_id(x);
  xcb_create_window(x, XCB_COPY_FROM_PARENT, window, screen->root, static_cast<int16_t>(left),
                    static_cast<int16_t>(top), static_cast<uint16_t>(width),
                    static_cast<uint16_t>(height), 0, XCB_WINDOW_CLASS_INPUT_OUTPUT,
                    XCB_COPY_FROM_PARENT, XCB_CW_BACK_PIXEL, &colour);
  if (is_drag) {
    const uint32_t events =
        XCB_EVENT_MASK_BUTTON_PRESS | XCB_EVENT_MASK_BUTTON_RELEASE | XCB_EVENT_MASK_BUTTON_MOTION;
    xcb_change_window_attributes(x, window, XCB_CW_EVENT_MASK, &events);
  }
  const std::string_view title = words[1];
  xcb_change_property(x, XCB_PROP_MODE_REPLACE, window, XCB_ATOM_WM_NAME, XCB_ATOM_STRING, 8,
                      static_cast<uint32_t>(title.size()), title.data());
  const uint32_t hints[18] = {kPlaceAndSize, left, top, width, height};
  xcb_change_property(x, XCB_PROP_MODE_REPLACE, window, XCB_ATOM_WM_NORMAL_HINTS,
                      XCB_ATOM_WM_SIZE_HINTS, 32, 18, hints);
  const xcb_atom_t protocols = AtomOf(x, "WM_PROTOCOLS");
  const xcb_atom_t close = AtomOf(x, "WM_DELETE_WINDOW");
  xcb_change_property(x, XCB_PROP_MODE_REPLACE, window, protocols, XCB_ATOM_ATOM, 32, 1, &close);
  if (is_full) {
    const xcb_atom_t full = AtomOf(x, "_NET_WM_STATE_FULLSCREEN");
    xcb_change_property(x, XCB_PROP_MODE_REPLACE, window, AtomOf(x, "_NET_WM_STATE"), XCB_ATOM_ATOM,
                        32, 1, &full);
  }
  std::optional<sprites::DragSource> drag;
  if (is_drag) {
    std::ifstream file(words[4], std::ios::binary);
    drag.emplace(
        x, screen->root, window, [x](std::string_view name) { return AtomOf(x, name); }, words[3],
        std::string(std::istreambuf_iterator<char>(file), {}));
  }
  xcb_map_window(x, window);
  xcb_flush(x);
  bool is_closed = false;
  while (!is_closed) {
    const std::unique_ptr<xcb_generic_event_t, decltype(&std::free)> event(xcb_wait_for_event(x),
                                                                           &std::free);
    if (drag && event != nullptr) {
      drag->HandleEvent(*event);
    }
    is_closed =
        event == nullptr ||
        ((event->response_type & 0x7F) == XCB_CLIENT_MESSAGE &&
         reinterpret_cast<const xcb_client_message_event_t*>(event.get())->data.data32[0] == close);
  }
  xcb_disconnect(x);
  return 0;
}
