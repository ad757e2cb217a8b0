// One window per sprite, with an alpha value for each pixel.
//
// The window manager does not manage these windows (override-redirect). Where a picture is
// transparent, the window takes no clicks; elsewhere it reports them to its listener. Without a
// compositor, or without a visual with alpha, the window has the shape of the opaque pixels.
// Invariant: after Show there is one window for each sprite of the scene, at its place, with its
// picture, stacked in the order of the scene; the window of a sprite that can't be seen is
// unmapped. Cost of a frame: a copy within the server, and at most two requests more, for each
// sprite with a new picture; one request for each that only moved; nothing for the others
// (core/scene/window_planner.h).
#ifndef CLIENT_WIN_X11_WINDOWS_SPRITE_WINDOWS_H_
#define CLIENT_WIN_X11_WINDOWS_SPRITE_WINDOWS_H_

#include <xcb/xcb.h>
#include <xcb/xfixes.h>

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/desktop/desktop.h"
#include "core/scene/frame_atlas.h"
#include "core/scene/window_planner.h"
#include "x11/system/x_connection.h"
#include "x11/windows/sprite_display.h"
#include "x11/windows/sprite_keys.h"

namespace sprites {

class SpriteWindows {
 public:
  // `name` is that of the windows. A null `listener`: clicks go through the windows.
  SpriteWindows(const XConnection* connection, const char* name, SpriteListener* listener);
  ~SpriteWindows();
  SpriteWindows(const SpriteWindows&) = delete;
  SpriteWindows& operator=(const SpriteWindows&) = delete;

  // Shows these, lowest first, and no others.
  // With `above`, new windows are below that one.
  void Show(std::span<const DrawnSprite> sprites, xcb_window_t above = XCB_WINDOW_NONE);
  // Whether clicks on a sprite are the listener's. Otherwise they reach the window below.
  void SetTakesClicks(bool takes_clicks);
  // The window of the lowest sprite; XCB_WINDOW_NONE when there is none.
  xcb_window_t LowestWindow() const;
  // Whether the event was for one of these windows.
  bool HandleEvent(const xcb_generic_event_t& event);
  // A compositor came or went: Show makes all windows again.
  void SetComposited(bool is_composited);
  // Puts all windows above this one of another program. The window manager does not do that.
  void PutAbove(xcb_window_t frame);
  // Gives the keyboard to a sprite, as a click on it does. Returns whether it has a window.
  bool GiveKeysTo(SpriteId id);
  // Forgets that the pointer holds a sprite, because its release was never reported.
  void ForgetHold() { hand_.Forget(); }

 private:
  struct Window {
    xcb_window_t window = XCB_WINDOW_NONE;
    xcb_xfixes_region_t shape = XCB_NONE;  // the one that it has
    Crop shown{0, 0, 1, 1};
  };

  void PassClicks(xcb_window_t window) const;
  void CreateWindowFor(SpriteId id);
  void PutOnTop(SpriteId id);
  void PutBelow(xcb_window_t above, const std::vector<SpriteId>& created);
  void DestroyWindowOf(SpriteId id);
  void DestroyAll();
  bool Paint(const DrawnSprite& drawn, bool appears);
  void Place(const Placement& placement);
  void HandleRelease(SpriteId id, const xcb_button_release_event_t& event);
  void HandleKey(SpriteId id, const xcb_key_press_event_t& event, bool is_down);
  void TakeKeys(xcb_window_t window, uint32_t ms);
  void GiveKeysBack(uint32_t ms);
  SpriteId IdOf(xcb_window_t window) const;

  const XConnection* connection_;
  const char* name_;
  SpriteListener* listener_;
  xcb_gcontext_t context_ = XCB_NONE;
  std::unique_ptr<FrameAtlas> atlas_;
  std::unique_ptr<WindowPlanner> planner_;
  std::unordered_map<SpriteId, Window> windows_;
  std::unordered_map<xcb_window_t, SpriteId> ids_;
  std::vector<SpriteId> order_;               // of the last scene, and new ones; lowest first
  xcb_window_t top_frame_ = XCB_WINDOW_NONE;  // the highest window of the window manager
  bool is_composited_ = false;
  bool takes_clicks_;
  SpriteHand hand_;
  xcb_window_t keys_window_ = XCB_WINDOW_NONE;   // of the sprite that has the keys
  xcb_window_t focus_before_ = XCB_WINDOW_NONE;  // had the keys before a sprite got them
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_SPRITE_WINDOWS_H_
