// Where the sprites are shown, and what is around them: windows of X (x_display.h), or layers of
// Wayland (layer_display.h).
//
// Units: px of the virtual screen; on Wayland those are GTK's own pixels. Threads: all calls on
// one.
#ifndef CLIENT_WIN_X11_WINDOWS_SPRITE_DISPLAY_H_
#define CLIENT_WIN_X11_WINDOWS_SPRITE_DISPLAY_H_

#include <gtk/gtk.h>

#include <cstdint>
#include <vector>

#include "core/desktop/desktop.h"
#include "core/scene/scene.h"
#include "core/screen/geometry.h"

namespace sprites {

struct PointerNow {
  Point point;
  bool is_first_down = false;  // its first button
  bool is_any_down = false;
  bool is_here = false;  // on this screen; on Wayland, on a sprite
};

// A point as GTK wants to have it: a small rectangle in a window.
struct MenuCorner {
  GdkWindow* window = nullptr;  // of GDK
  GdkRectangle place{0, 0, 1, 1};
};

class SpriteDisplay {
 public:
  virtual ~SpriteDisplay() = default;

  // -- The connection that it has beside GTK's, if it has one.
  virtual int fd() const { return -1; }
  virtual bool IsLost() const { return false; }
  virtual void Flush() const {}
  // Returns whether the scene may have changed.
  virtual bool HandleEvents() { return false; }

  // Makes the checks of the surroundings that are due. Returns whether something has changed, which
  // the desktop knows now. Call it every turn.
  virtual bool Update(Desktop* desktop, int64_t now_ms) = 0;
  // ms until a check is due; the largest value when none is.
  virtual double IdleMs(const Desktop& desktop, int64_t now_ms) const = 0;
  virtual const std::vector<Monitor>& monitors() const = 0;
  virtual bool is_composited() const = 0;  // whether windows are blended with what is below them
  virtual const char* system() const = 0;  // for diagnostics

  // Shows the scene's sprites, what lies on the ground, and what is seen beyond an edge.
  virtual void Show(const Scene& scene) = 0;
  // Gives the keyboard to a sprite, as a click on it does. Returns whether it is shown.
  virtual bool GiveKeysTo(SpriteId id) = 0;
  // Forgets that the pointer holds a sprite, because its release was never reported.
  virtual void ForgetHold() = 0;
  virtual PointerNow Pointer() const = 0;
  // Where a menu opens for a point; no window while the display is not ready for a menu.
  virtual MenuCorner CornerAt(Point point) = 0;
  // No menu is open any more. Call it every turn when none is.
  virtual void EndMenu() {}
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_SPRITE_DISPLAY_H_
