// What a window manager for X11 reports of a window (EWMH), and what the window is for the sprites.
//
// Menus, tooltips and other windows that programs place themselves are not managed, so they are
// never here. Cost: O(1).
#ifndef CLIENT_WIN_CORE_SCREEN_MANAGED_WINDOW_H_
#define CLIENT_WIN_CORE_SCREEN_MANAGED_WINDOW_H_

#include <cstdint>
#include <optional>

#include "core/screen/geometry.h"

namespace sprites {

constexpr uint32_t kAllDesktops = 0xFFFFFFFF;  // EWMH: the window is on every virtual desktop

enum class ManagedType : uint8_t {
  kNormal,   // and dialogs, tool bars, and whatever has no type
  kDock,     // a panel: it is a part of the work area, not ground
  kDesktop,  // the wallpaper and its icons
  kPassing,  // a splash screen, a menu, a notification
};

// Widths of the sides of a window, in px.
struct Sides {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;

  bool operator==(const Sides&) const = default;
};

struct ManagedWindow {
  uint64_t id = 0;
  Rect client;   // px of the screen: what the program draws
  Sides frame;   // what the window manager draws around it
  Sides shadow;  // what the program itself draws around the visible window, transparent
  ManagedType type = ManagedType::kNormal;
  uint32_t desktop = kAllDesktops;
  bool is_viewable = true;
  bool is_hidden = false;  // minimised
  bool is_shaded = false;  // rolled up: only its title bar can be seen
  bool is_full_screen = false;
  bool is_maximised = false;  // in both directions
};

// The window as the sprites see it; nothing when they do not see it.
std::optional<WindowArea> AreaOf(const ManagedWindow& window, uint32_t current_desktop,
                                 bool is_active);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCREEN_MANAGED_WINDOW_H_
