// The icon in the notification area, which shows toasts, and the two menus of the program.
#ifndef CLIENT_WIN_WIN32_TRAY_H_
#define CLIENT_WIN_WIN32_TRAY_H_

#include <windows.h>

#include <string>

#include "core/desktop/desktop.h"

namespace sprites {

constexpr UINT kTrayMessage = WM_APP + 2;  // sent by the icon to its window

enum class MenuCommand : uint8_t {
  kNone,    // the menu was closed without a choice
  kDropIn,  // `index` on the shelf
  kMute,    // `name`, `is_on`
  kPause,   // `is_on`
  kSettings,
  kAbout,
  kQuit,
  kThrow,  // `index` is the Edge
  kPutAway,
};

// The entry of a menu that the user chose.
struct MenuChoice {
  MenuCommand command = MenuCommand::kNone;
  size_t index = 0;
  std::string name;
  bool is_on = false;
};

class Tray {
 public:
  // Adds the icon, which sends kTrayMessage to `window`.
  explicit Tray(HWND window);
  ~Tray();
  Tray(const Tray&) = delete;
  Tray& operator=(const Tray&) = delete;

  // Adds the icon. Call again whenever the task bar has been created again.
  void Add();
  void ShowToast(const Toast& toast);
  void SetTooltip(const std::string& tooltip);

 private:
  HWND window_;
  HICON icon_;
  std::string tooltip_;
};

// Shows the menu of the program at `point` and waits for the user's choice.
MenuChoice ShowTrayMenu(HWND window, POINT point, const Desktop& desktop);
// Likewise for the menu of a sprite.
MenuChoice ShowSpriteMenu(HWND window, POINT point, const Sprite& sprite);

// One line about the connection to the relay.
std::string StatusOf(const Desktop& desktop);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_TRAY_H_
