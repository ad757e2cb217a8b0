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

// How a character stands, as large as an icon of the menu; with premultiplied alpha, as menus want.
OwnedBitmap PictureOf(const Sheet& sheet) {
  const Description& description = sheet.description;
  const int cell = CellOf(description, Mode::kIdle, 0);
  const int left = cell % sheet.Columns() * description.frame_width;
  const int top = cell / sheet.Columns() * description.frame_height;
  const int height = GetSystemMetrics(SM_CYMENUCHECK) * 3 / 2;
  const int width = std::max(1, height * description.frame_width / description.frame_height);
  const BITMAPINFO info = BitmapFormat(width, height);
  void* bits = nullptr;
  OwnedBitmap bitmap(CreateDIBSection(nullptr, &info, DIB_RGB_COLORS, &bits, nullptr, 0));
  auto* pixel = static_cast<uint8_t*>(bits);
  for (int y = 0; pixel != nullptr && y < height; y++) {
    for (int x = 0; x < width; x++, pixel += 4) {
      const int from_x = left + x * description.frame_width / width;
      const int from_y = top + y * description.frame_height / height;
      const uint8_t* rgba =
          &sheet.rgba[(size_t(from_y) * size_t(sheet.width) + size_t(from_x)) * 4];
      for (int channel = 0; channel < 3; channel++) {
        pixel[2 - channel] = static_cast<uint8_t>(rgba[channel] * rgba[3] / 255);
      }
      pixel[3] = rgba[3];
    }
  }
  return bitmap;
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
    // Not only 0 says that nothing was chosen: Wine answers -2 for Return where a submenu opens.
    const bool is_choice = chosen > 0 && static_cast<size_t>(chosen) <= choices_.size();
    return is_choice ? choices_[static_cast<size_t>(chosen) - 1] : MenuChoice{};
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
        if (item.picture != nullptr) {
          pictures_.push_back(PictureOf(*item.picture));
          MENUITEMINFOW info{sizeof info, MIIM_BITMAP};
          info.hbmpItem = pictures_.back().get();
          SetMenuItemInfoW(menu, static_cast<UINT>(choices_.size()), FALSE, &info);
        }
        continue;
      }
      const HMENU submenu = CreatePopupMenu();  // owned by the menu that it is in
      Fill(submenu, item.children, true);
      AppendMenuW(menu, flags | MF_POPUP, reinterpret_cast<UINT_PTR>(submenu),
                  Wide(item.text).c_str());
    }
  }

  std::vector<OwnedBitmap> pictures_;  // outlive the menu
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
