#include "win32/system/tray.h"

#include <shellapi.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "win32/system/owned.h"
#include "win32/system/resource.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

constexpr UINT kIconId = 1;
constexpr size_t kMenuColumn =
    24;  // entries per column: they fit above the task bar of a small screen

NOTIFYICONDATAW DescriptionFor(HWND window) {
  NOTIFYICONDATAW description{};
  description.cbSize = sizeof description;
  description.hWnd = window;
  description.uID = kIconId;
  return description;
}

// A menu of Windows with the entries of a core menu.
class NativeMenu {
 public:
  explicit NativeMenu(const Menu& menu) { Fill(menu_.get(), menu, false); }

  MenuChoice Ask(HWND window, POINT point) {
    SetForegroundWindow(window);  // otherwise a click elsewhere would not close the menu
    const int chosen = TrackPopupMenuEx(menu_.get(), TPM_RETURNCMD | TPM_RIGHTBUTTON | TPM_NONOTIFY,
                                        point.x, point.y, window, nullptr);
    PostMessageW(window, WM_NULL, 0, 0);
    return chosen == 0 ? MenuChoice{} : choices_[static_cast<size_t>(chosen) - 1];
  }

 private:
  // `has_columns`: a long menu goes on beside itself.
  void Fill(HMENU menu, const Menu& items, bool has_columns) {
    for (size_t i = 0; i < items.size(); i++) {
      const MenuItem& item = items[i];
      UINT flags = item.IsLine() ? MF_SEPARATOR : MF_STRING;
      flags |= item.is_enabled ? 0 : MF_GRAYED;
      flags |= item.is_checked ? MF_CHECKED : 0;
      flags |= has_columns && i > 0 && i % kMenuColumn == 0 ? MF_MENUBARBREAK : 0;
      if (item.children.empty()) {
        choices_.push_back(item.choice);
        AppendMenuW(menu, flags, choices_.size(), Wide(item.text).c_str());
        continue;
      }
      const HMENU submenu = CreatePopupMenu();  // owned by the menu that it is in
      Fill(submenu, item.children, true);
      AppendMenuW(menu, flags | MF_POPUP, reinterpret_cast<UINT_PTR>(submenu),
                  Wide(item.text).c_str());
    }
  }

  OwnedMenu menu_{CreatePopupMenu()};
  std::vector<MenuChoice> choices_;
};

}  // namespace

Tray::Tray(HWND window)
    : window_(window),
      icon_(static_cast<HICON>(LoadImageW(GetModuleHandleW(nullptr), MAKEINTRESOURCEW(IDI_PROGRAM),
                                          IMAGE_ICON, GetSystemMetrics(SM_CXSMICON),
                                          GetSystemMetrics(SM_CYSMICON), LR_SHARED))) {
  Add();
}

Tray::~Tray() { Remove(); }

void Tray::Remove() {
  if (!std::exchange(is_removed_, true)) {
    NOTIFYICONDATAW description = DescriptionFor(window_);
    Shell_NotifyIconW(NIM_DELETE, &description);
  }
}

void Tray::Add() {
  NOTIFYICONDATAW description = DescriptionFor(window_);
  description.uFlags = NIF_MESSAGE | NIF_ICON | NIF_TIP | NIF_SHOWTIP;
  description.uCallbackMessage = kTrayMessage;
  description.hIcon = icon_;
  CopyText(Wide(tooltip_), description.szTip);
  tried_ms_ = GetTickCount64();
  // When the task bar answers late, the icon may be there although the call has failed.
  is_added_ = Shell_NotifyIconW(NIM_ADD, &description) != 0 ||
              Shell_NotifyIconW(NIM_MODIFY, &description) != 0;
  description.uVersion = NOTIFYICON_VERSION_4;
  Shell_NotifyIconW(NIM_SETVERSION, &description);
}

void Tray::ShowToast(const Toast& toast) {
  NOTIFYICONDATAW description = DescriptionFor(window_);
  description.uFlags = NIF_INFO | NIF_REALTIME | NIF_SHOWTIP;  // or the tip is gone afterwards
  description.dwInfoFlags = NIIF_USER | NIIF_NOSOUND | NIIF_RESPECT_QUIET_TIME;
  description.hBalloonIcon = nullptr;
  CopyText(Wide(toast.title), description.szInfoTitle);
  CopyText(Wide(toast.text.empty() ? " " : toast.text),
           description.szInfo);  // an empty text would show no toast
  Shell_NotifyIconW(NIM_MODIFY, &description);
}

void Tray::TakeKeys() {
  NOTIFYICONDATAW description = DescriptionFor(window_);
  Shell_NotifyIconW(NIM_SETFOCUS, &description);
}

void Tray::SetTooltip(const std::string& tooltip) {
  if (!is_added_ && GetTickCount64() - tried_ms_ >= kTrayRetryMs) {
    Add();
  }
  if (tooltip == tooltip_) {
    return;
  }
  tooltip_ = tooltip;
  NOTIFYICONDATAW description = DescriptionFor(window_);
  description.uFlags = NIF_TIP | NIF_SHOWTIP;
  CopyText(Wide(tooltip), description.szTip);
  Shell_NotifyIconW(NIM_MODIFY, &description);
}

MenuChoice ChooseIn(const Menu& menu, HWND window, POINT point) {
  return NativeMenu(menu).Ask(window, point);
}

}  // namespace sprites
