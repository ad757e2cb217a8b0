// The giving side of XDND 5, for the tests: a press on a window starts a drag, as in a file
// manager.
#ifndef CLIENT_WIN_TEST_X11_DRAG_SOURCE_H_
#define CLIENT_WIN_TEST_X11_DRAG_SOURCE_H_

#include <xcb/xcb.h>

#include <functional>
#include <string>
#include <string_view>

namespace sprites {

class DragSource {
 public:
  using AtomOf = std::function<xcb_atom_t(std::string_view name)>;

  // `content` is dragged from `window`, as data of `type`. The window must select button events.
  DragSource(xcb_connection_t* x, xcb_window_t root, xcb_window_t window, AtomOf atom_of,
             std::string type, std::string content);

  void HandleEvent(const xcb_generic_event_t& event);

 private:
  void Move(const xcb_motion_notify_event_t& event);
  void Drop(uint32_t ms);
  void Give(const xcb_selection_request_event_t& request);
  xcb_window_t TargetBelowPointer() const;
  void Send(std::string_view type, uint32_t second, uint32_t third, uint32_t fourth,
            uint32_t fifth);

  xcb_connection_t* x_;
  xcb_window_t root_;
  xcb_window_t window_;
  AtomOf atom_of_;
  xcb_atom_t type_;
  std::string content_;
  xcb_window_t target_ = XCB_WINDOW_NONE;  // that takes drops, below the pointer
  bool is_accepted_ = false;               // by the target
  bool is_dropped_ = false;                // released before the target has said whether it accepts
  uint32_t dropped_ms_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_TEST_X11_DRAG_SOURCE_H_
