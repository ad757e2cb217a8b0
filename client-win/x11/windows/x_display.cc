#include "x11/windows/x_display.h"

#include <gdk/gdkx.h>
#include <xcb/xfixes.h>

#include <string>

#include "x11/system/event_queue.h"
#include "x11/system/monitors.h"

namespace sprites {

XDisplay::XDisplay(SpriteListener* listener)
    : is_composited_(connection_.IsComposited()),
      windows_(&connection_, "Sprite", listener),
      ground_(&connection_, "Sprite shadow", nullptr),
      beyond_(&connection_, "Sprite beyond", nullptr),
      surroundings_(&connection_),
      drops_(&connection_,
             [listener](const std::string& uris) { listener->Dropped(FilesOf(uris)); }) {
  xcb_xfixes_select_selection_input(connection_.get(), connection_.root(),
                                    connection_.compositor_selection(),
                                    XCB_XFIXES_SELECTION_EVENT_MASK_SET_SELECTION_OWNER |
                                        XCB_XFIXES_SELECTION_EVENT_MASK_SELECTION_WINDOW_DESTROY |
                                        XCB_XFIXES_SELECTION_EVENT_MASK_SELECTION_CLIENT_CLOSE);
  // A window that GTK has made, and that lives as long as the program.
  connection_.Adopt(static_cast<xcb_window_t>(
      gdk_x11_window_get_xid(gdk_display_get_default_group(gdk_display_get_default()))));
}

bool XDisplay::HandleEvents() {
  bool may_change_scene = false;
  HandleTurnsEvents([this] { return xcb_poll_for_event(connection_.get()); },
                    [this] { return xcb_poll_for_queued_event(connection_.get()); },
                    [&](const xcb_generic_event_t& event) {
                      may_change_scene = HandleEvent(event) || may_change_scene;
                    });
  return may_change_scene;
}

bool XDisplay::HandleEvent(const xcb_generic_event_t& event) {
  const uint8_t type = TypeOfEvent(event);
  if (type == connection_.first_xfixes_event() + XCB_XFIXES_SELECTION_NOTIFY) {
    SetComposited();
    return true;
  }
  surroundings_.HandleEvent(event);
  const bool is_handled = drops_.HandleEvent(event) || windows_.HandleEvent(event) ||
                          ground_.HandleEvent(event) || beyond_.HandleEvent(event);
  return is_handled || type == XCB_PROPERTY_NOTIFY || type == XCB_CONFIGURE_NOTIFY ||
         type == XCB_DESTROY_NOTIFY || type == XCB_UNMAP_NOTIFY;
}

void XDisplay::SetComposited() {
  is_composited_ = connection_.IsComposited();
  for (SpriteWindows* windows : {&windows_, &ground_, &beyond_}) {
    windows->SetComposited(is_composited_);
  }
}

bool XDisplay::Update(Desktop* desktop, int64_t now_ms) {
  if (!surroundings_.Update(desktop, now_ms)) {
    return false;
  }
  const xcb_window_t top = surroundings_.TopFrame();
  for (SpriteWindows* windows : {&windows_, &ground_, &beyond_}) {
    windows->PutAbove(top);
  }
  return true;
}

void XDisplay::Show(const Scene& scene) {
  windows_.SetTakesClicks(scene.takes_clicks);
  windows_.Show(scene.sprites);
  ground_.Show(scene.ground, windows_.LowestWindow());
  const xcb_window_t lowest = ground_.LowestWindow();
  // Below the sprites, so that a sprite that crosses walks in front.
  beyond_.Show(scene.beyond, lowest == XCB_WINDOW_NONE ? windows_.LowestWindow() : lowest);
}

PointerNow XDisplay::Pointer() const {
  const Reply<xcb_query_pointer_reply_t> pointer(xcb_query_pointer_reply(
      connection_.get(), xcb_query_pointer(connection_.get(), connection_.root()), nullptr));
  if (pointer == nullptr) {
    return {};
  }
  constexpr uint16_t kAnyButton = XCB_BUTTON_MASK_1 | XCB_BUTTON_MASK_2 | XCB_BUTTON_MASK_3;
  return {{static_cast<double>(pointer->root_x), static_cast<double>(pointer->root_y)},
          (pointer->mask & XCB_BUTTON_MASK_1) != 0,
          (pointer->mask & kAnyButton) != 0,
          pointer->same_screen != 0};
}

MenuCorner XDisplay::CornerAt(Point point) {
  const int pixels = WindowScale();
  GdkWindow* root = gdk_screen_get_root_window(gdk_screen_get_default());
  return {root, {static_cast<int>(point.x) / pixels, static_cast<int>(point.y) / pixels, 1, 1}};
}

}  // namespace sprites
