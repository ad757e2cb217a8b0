#include "win32/tray.h"

#include <shellapi.h>

#include <algorithm>
#include <vector>

#include "win32/owned.h"
#include "win32/resource.h"
#include "win32/text16.h"

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

// A menu with a MenuChoice for each entry.
class Menu {
 public:
  void Add(const std::wstring& text, MenuChoice choice, UINT flags = 0) {
    AddTo(menu_.get(), text, std::move(choice), flags);
  }
  void AddTo(HMENU menu, const std::wstring& text, MenuChoice choice, UINT flags = 0) {
    choices_.push_back(std::move(choice));
    AppendMenuW(menu, MF_STRING | flags, choices_.size(), text.c_str());
  }
  void AddLine() { AppendMenuW(menu_.get(), MF_SEPARATOR, 0, nullptr); }
  // Adds a submenu, which this menu owns.
  HMENU AddMenu(const std::wstring& text) {
    const HMENU menu = CreatePopupMenu();
    AppendMenuW(menu_.get(), MF_POPUP, reinterpret_cast<UINT_PTR>(menu), text.c_str());
    return menu;
  }

  MenuChoice Ask(HWND window, POINT point) {
    SetForegroundWindow(window);  // otherwise a click elsewhere would not close the menu
    const int chosen = TrackPopupMenuEx(menu_.get(), TPM_RETURNCMD | TPM_RIGHTBUTTON | TPM_NONOTIFY,
                                        point.x, point.y, window, nullptr);
    PostMessageW(window, WM_NULL, 0, 0);
    return chosen == 0 ? MenuChoice{} : choices_[static_cast<size_t>(chosen) - 1];
  }

 private:
  OwnedMenu menu_{CreatePopupMenu()};
  std::vector<MenuChoice> choices_;
};

void AddShelfMenu(Menu* menu, const Desktop& desktop) {
  const HMENU shelf = menu->AddMenu(L"&New sprite");
  for (size_t i = 0; i < desktop.shelf().size(); i++) {
    const UINT column = i > 0 && i % kMenuColumn == 0 ? MF_MENUBARBREAK : 0;
    menu->AddTo(shelf, MenuText(desktop.shelf()[i]->description.name), {MenuCommand::kDropIn, i},
                column);
  }
}

bool IsSelf(const Neighbour& neighbour, const Desktop& desktop) {
  return desktop.seat() && desktop.seat()->desktop == neighbour.desktop;
}

// Muted names first, checked, then the neighbours that are not muted.
void AddMuteMenu(Menu* menu, const Desktop& desktop) {
  std::vector<std::string> names = desktop.settings().muted;
  const size_t muted = names.size();
  if (desktop.neighbours()) {
    for (const Neighbour& neighbour : *desktop.neighbours()) {
      const std::string& name = neighbour.DisplayName();
      const bool is_known = std::ranges::find(names, name) != names.end();
      if (!name.empty() && !is_known && !IsSelf(neighbour, desktop)) {
        names.push_back(name);
      }
    }
  }
  if (names.empty()) {
    return;
  }
  const HMENU mute = menu->AddMenu(L"&Mute");
  for (size_t i = 0; i < names.size(); i++) {
    menu->AddTo(mute, MenuText(names[i]), {MenuCommand::kMute, 0, names[i], i >= muted},
                i < muted ? MF_CHECKED : 0);
  }
}

}  // namespace

Tray::Tray(HWND window)
    : window_(window),
      icon_(static_cast<HICON>(LoadImageW(GetModuleHandleW(nullptr), MAKEINTRESOURCEW(IDI_PROGRAM),
                                          IMAGE_ICON, GetSystemMetrics(SM_CXSMICON),
                                          GetSystemMetrics(SM_CYSMICON), LR_SHARED))) {
  Add();
}

Tray::~Tray() {
  NOTIFYICONDATAW description = DescriptionFor(window_);
  Shell_NotifyIconW(NIM_DELETE, &description);
}

void Tray::Add() {
  NOTIFYICONDATAW description = DescriptionFor(window_);
  description.uFlags = NIF_MESSAGE | NIF_ICON | NIF_TIP | NIF_SHOWTIP;
  description.uCallbackMessage = kTrayMessage;
  description.hIcon = icon_;
  CopyText(Wide(tooltip_), description.szTip);
  Shell_NotifyIconW(NIM_ADD, &description);
  description.uVersion = NOTIFYICON_VERSION_4;
  Shell_NotifyIconW(NIM_SETVERSION, &description);
}

void Tray::ShowToast(const Toast& toast) {
  NOTIFYICONDATAW description = DescriptionFor(window_);
  description.uFlags = NIF_INFO | NIF_REALTIME;
  description.dwInfoFlags = NIIF_USER | NIIF_NOSOUND | NIIF_RESPECT_QUIET_TIME;
  description.hBalloonIcon = nullptr;
  CopyText(Wide(toast.title), description.szInfoTitle);
  CopyText(Wide(toast.text.empty() ? " " : toast.text),
           description.szInfo);  // an empty text would show no toast
  Shell_NotifyIconW(NIM_MODIFY, &description);
}

void Tray::SetTooltip(const std::string& tooltip) {
  if (tooltip == tooltip_) {
    return;
  }
  tooltip_ = tooltip;
  NOTIFYICONDATAW description = DescriptionFor(window_);
  description.uFlags = NIF_TIP | NIF_SHOWTIP;
  CopyText(Wide(tooltip), description.szTip);
  Shell_NotifyIconW(NIM_MODIFY, &description);
}

MenuChoice ShowTrayMenu(HWND window, POINT point, const Desktop& desktop) {
  Menu menu;
  menu.Add(MenuText(StatusOf(desktop)), {}, MF_GRAYED);
  menu.AddLine();
  AddShelfMenu(&menu, desktop);
  AddMuteMenu(&menu, desktop);
  menu.Add(L"&Pause", {MenuCommand::kPause, 0, "", !desktop.is_paused()},
           desktop.is_paused() ? MF_CHECKED : 0);
  menu.AddLine();
  menu.Add(L"&Settings…", {MenuCommand::kSettings});
  menu.Add(L"&About Sprites", {MenuCommand::kAbout});
  menu.AddLine();
  menu.Add(L"&Quit", {MenuCommand::kQuit});
  return menu.Ask(window, point);
}

MenuChoice ShowSpriteMenu(HWND window, POINT point, const Sprite& sprite) {
  Menu menu;
  menu.Add(MenuText(sprite.name), {}, MF_GRAYED);
  menu.AddLine();
  constexpr const wchar_t* kEdges[] = {L"Throw &left", L"Throw &right", L"Throw &up",
                                       L"Throw &down"};
  for (size_t i = 0; i < std::size(kEdges); i++) {
    menu.Add(kEdges[i], {MenuCommand::kThrow, i});
  }
  if (sprite.from_shelf) {
    menu.AddLine();
    menu.Add(L"&Put away", {MenuCommand::kPutAway});
  }
  return menu.Ask(window, point);
}

std::string StatusOf(const Desktop& desktop) {
  switch (desktop.link()) {
    case Link::kConnected: {
      const std::string& world = desktop.seat() ? desktop.seat()->world : desktop.settings().world;
      const std::string& name = desktop.settings().name;
      return "Connected to world " + world + (name.empty() ? "" : " as " + name);
    }
    case Link::kJoining:
      return "Connecting to " + desktop.settings().relay + " …";
    case Link::kBroken:
      return "Not connected; trying again …";
  }
  return "";
}

}  // namespace sprites
