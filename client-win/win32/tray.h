// The icon by the clock: toasts come from it, and the program's menu.
//
// Invariant: after Add the icon is there, also when the task bar has started anew (Readd).
#ifndef CLIENT_WIN_WIN32_TRAY_H_
#define CLIENT_WIN_WIN32_TRAY_H_

#include <windows.h>

#include <string>

#include "core/desktop/desktop.h"

namespace sprites {

constexpr UINT kTrayMessage = WM_APP + 2;  // what the icon sends to its window

// What an entry of the menu wants.
enum class Wish : uint8_t {
  kNothing,
  kDropIn,  // `index` of the shelf
  kMute,    // `name`, and whether from now on
  kPause,
  kSettings,
  kAbout,
  kQuit,
  kThrow,  // `index` is the edge
  kPutAway,
};

struct Choice {
  Wish wish = Wish::kNothing;
  size_t index = 0;
  std::string name;
  bool is_on = false;
};

class Tray {
 public:
  // `window` gets kTrayMessage.
  explicit Tray(HWND window);
  ~Tray();
  Tray(const Tray&) = delete;
  Tray& operator=(const Tray&) = delete;

  // Puts the icon there; again after the task bar has gone.
  void Add();
  void Say(const Toast& toast);
  void SetTip(const std::string& tip);

 private:
  HWND window_;
  HICON icon_;
  std::string tip_;
};

// Shows the program's menu at a point, and waits for the choice.
Choice AskInMenu(HWND window, POINT point, const Desktop& desktop);
// Likewise the one of a sprite.
Choice AskAboutSprite(HWND window, POINT point, const Sprite& sprite);

// How things stand with the relay: one line.
std::string StatusOf(const Desktop& desktop);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_TRAY_H_
