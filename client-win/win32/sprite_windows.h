// One layered window a sprite: its picture with an alpha of its own for every pixel.
//
// Windows passes clicks through where a picture is transparent; where it is not, the window tells
// its listener. Invariant: after Show there is one window for each sprite of the scene, in its
// order, where and as it is drawn. Threads: all on the one that made it. Cost of a frame: what
// staging.h says has changed: one UpdateLayeredWindow a picture, one place in a batch for each who
// only moved, or is stacked anew, or comes or goes; nothing for the others.
#ifndef CLIENT_WIN_WIN32_SPRITE_WINDOWS_H_
#define CLIENT_WIN_WIN32_SPRITE_WINDOWS_H_

#include <windows.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "core/desktop/desktop.h"
#include "core/scene/window_planner.h"
#include "win32/frame_bitmaps.h"
#include "win32/owned.h"

namespace sprites {

// What people do to a sprite. Points in px of the virtual screen, `ms` of the messages' clock.
class SpriteListener {
 public:
  virtual ~SpriteListener() = default;
  virtual void Grabbed(SpriteId id, Point point, double ms) = 0;
  virtual void Dragged(Point point, double ms) = 0;
  virtual void Released(double ms) = 0;
  virtual void Clicked(SpriteId id) = 0;  // after it was released where it was grabbed
  virtual void DoubleClicked(SpriteId id) = 0;
  virtual void RightClicked(SpriteId id, POINT point) = 0;
  virtual void Pressed(Key key, bool is_down) = 0;
  virtual void KeysLost() = 0;
  virtual void Dropped(std::vector<std::wstring> paths) = 0;
};

class SpriteWindows {
 public:
  // What showing has cost so far.
  struct Cost {
    uint64_t pictures = 0;  // UpdateLayeredWindow
    uint64_t placings = 0;  // DeferWindowPos: moved, restacked, shown, hidden
    uint64_t batches = 0;   // EndDeferWindowPos
    uint64_t made = 0;      // CreateWindowEx, and DestroyWindow
  };

  explicit SpriteWindows(SpriteListener* listener);
  ~SpriteWindows();
  SpriteWindows(const SpriteWindows&) = delete;
  SpriteWindows& operator=(const SpriteWindows&) = delete;

  void Show(const Scene& scene);
  bool IsEmpty() const { return windows_.empty(); }
  const Cost& cost() const { return cost_; }

 private:
  static LRESULT CALLBACK OnMessage(HWND window, UINT message, WPARAM wide, LPARAM wider);
  LRESULT Take(HWND window, SpriteId id, UINT message, WPARAM wide, LPARAM wider);
  void PressOn(WPARAM key, bool is_down);
  void ReleaseFrom(HWND window, SpriteId id);

  void Make(SpriteId id);
  void End(SpriteId id);
  bool Paint(const DrawnSprite& drawn);
  void Place(const std::vector<Placement>& placings);

  SpriteListener* listener_;
  FrameBitmaps bitmaps_;
  OwnedDc canvas_;
  WindowPlanner planner_;
  std::unordered_map<SpriteId, HWND> windows_;
  Point pressed_{};  // where the button went down
  Cost cost_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SPRITE_WINDOWS_H_
