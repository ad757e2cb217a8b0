// The icon in the notification area, which shows toasts, and the menus of the program.
#ifndef CLIENT_WIN_WIN32_SYSTEM_TRAY_H_
#define CLIENT_WIN_WIN32_SYSTEM_TRAY_H_

#include <windows.h>

#include <string>

#include "core/words/menus.h"

namespace sprites {

constexpr UINT kTrayMessage = WM_APP + 2;  // sent by the icon to its window
constexpr ULONGLONG kTrayRetryMs = 1'000;  // between two tries to add the icon

class Tray {
 public:
  // Adds the icon, which sends kTrayMessage to `window`. The window must live as long as the icon.
  explicit Tray(HWND window);
  ~Tray();
  Tray(const Tray&) = delete;
  Tray& operator=(const Tray&) = delete;

  // Adds the icon. Call again whenever the task bar has been created again.
  void Add();
  // Removes the icon: call it before its window is destroyed, or the icon stays as a ghost.
  void Remove();
  void ShowToast(const Toast& toast);
  // Gives the keyboard to the notification area: the person has closed the menu of the icon.
  void TakeKeys();
  // Sets the tooltip. Tries again to add the icon if that has failed: while the user logs on, the
  // task bar may be too busy to answer.
  void SetTooltip(const std::string& tooltip);

 private:
  HWND window_;
  HICON icon_;
  std::string tooltip_;
  bool is_added_ = false;
  bool is_removed_ = false;
  ULONGLONG tried_ms_ = 0;  // GetTickCount64 of the last try to add the icon
};

// Shows a menu at `point` and waits for the user's choice.
MenuChoice ChooseIn(const Menu& menu, HWND window, POINT point);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_TRAY_H_
