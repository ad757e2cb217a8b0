// One layered window per sprite; it shows the sprite's picture, and its shadow if it has one, with
// an alpha value for each pixel.
//
// Where a picture is transparent, Windows passes clicks through to the window below; elsewhere the
// window reports the left and the right button to its listener, and passes on the wheel and the
// other buttons. Windows would report clicks on a shadow too, so the window
// takes no clicks while the pointer is on its shadow. Windows never gives the keyboard to such a
// window by itself: only one that is steered may be active. Invariant: after Show there is one
// window for each sprite of the scene, at its place, with its picture, stacked in the order of the
// scene. Threads: all calls on the one that constructed it. Cost of a frame: one
// UpdateLayeredWindow for each sprite with a new picture, one entry in a batch for each that only
// moved, was restacked, appeared or disappeared; nothing for the others
// (core/scene/window_planner.h).
#ifndef CLIENT_WIN_WIN32_WINDOWS_SPRITE_WINDOWS_H_
#define CLIENT_WIN_WIN32_WINDOWS_SPRITE_WINDOWS_H_

#include <windows.h>

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/app/sprite_hand.h"
#include "core/app/sprite_listener.h"
#include "core/scene/composition.h"
#include "core/scene/frame_atlas.h"
#include "core/scene/window_planner.h"
#include "win32/system/owned.h"
#include "win32/windows/foreground.h"
#include "win32/windows/frame_surface.h"
#include "win32/windows/sharing.h"

namespace sprites {

class SpriteWindows {
 public:
  // The number of Windows calls so far.
  struct Cost {
    uint64_t pictures = 0;    // UpdateLayeredWindow
    uint64_t placements = 0;  // DeferWindowPos: moved, restacked, shown, hidden
    uint64_t batches = 0;     // EndDeferWindowPos
    uint64_t windows = 0;     // CreateWindowEx and DestroyWindow
  };

  // `name` is that of the windows. Without a `listener`, clicks go through the windows.
  SpriteWindows(const wchar_t* name, const Sharing* sharing, SpriteListener* listener = nullptr,
                Foreground* foreground = nullptr);
  ~SpriteWindows();
  SpriteWindows(const SpriteWindows&) = delete;
  SpriteWindows& operator=(const SpriteWindows&) = delete;

  // Shows these, lowest first, and no others. With `above`, a window of another group: one that is
  // new, or becomes the topmost of these, goes directly below it.
  void Show(std::span<const DrawnSprite> sprites, HWND above = nullptr);
  // Whether clicks on a sprite are the listener's. Otherwise they reach the window below.
  void SetTakesClicks(bool takes_clicks);
  // The window of the lowest sprite; null when there is none.
  HWND LowestWindow() const { return lowest_; }
  // Gives the keyboard to a sprite, as a click on it does. `name` is for screen readers. Returns
  // whether it has a window.
  bool GiveKeysTo(SpriteId id, const std::wstring& name);
  const Cost& cost() const { return cost_; }

 private:
  static ATOM RegisterWindowClass();
  static LRESULT CALLBACK OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam);
  LRESULT HandleMessage(HWND window, SpriteId id, UINT message, WPARAM wparam, LPARAM lparam);
  bool HandleKey(HWND window, WPARAM key, bool is_down);
  void TakeKeys(HWND window);
  void ReturnKeys(HWND window);
  void HandleRelease(HWND window, SpriteId id);
  bool IsOnShadow(SpriteId id, POINT point);
  void PassClicks(SpriteId id);
  void PassOn(SpriteId id, UINT message, WPARAM wparam);
  bool PassesOn() const;
  void TakeClicksAgain();

  void CreateWindowFor(SpriteId id, HWND above);
  void DestroyWindowOf(SpriteId id);
  bool Paint(const DrawnSprite& drawn);
  HBITMAP PaintComposed(const DrawnSprite& drawn);
  void Place(const std::vector<Placement>& placements, HWND top);

  const wchar_t* name_;
  const Sharing* sharing_;
  SpriteListener* listener_;
  Foreground* foreground_;
  ATOM class_;
  FrameAtlas atlas_{FrameSurface::Make};
  // A sprite with its shadow is drawn here, then shown. As large as the largest one so far.
  std::unique_ptr<Surface> composed_;
  SIZE composed_size_{};
  OwnedDc canvas_;
  WindowPlanner planner_;
  std::unordered_map<SpriteId, HWND> windows_;
  HWND lowest_ = nullptr;
  bool takes_clicks_;
  SpriteId passing_ = kNobody;     // takes no clicks: the pointer is on its shadow, or passes on
  ULONGLONG passed_until_ms_ = 0;  // GetTickCount64 until which passing_ passes on what came
  SpriteHand hand_;
  Cost cost_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_WINDOWS_SPRITE_WINDOWS_H_
