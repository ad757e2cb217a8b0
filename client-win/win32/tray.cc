#include "win32/tray.h"

#include <shellapi.h>

#include <algorithm>
#include <utility>
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
  const HMENU shelf = menu->AddMenu(Wide(Say(desktop.language(), Text::kMenuNewSprite)));
  for (size_t i = 0; i < desktop.shelf().size(); i++) {
    const UINT column = i > 0 && i % kMenuColumn == 0 ? MF_MENUBARBREAK : 0;
    menu->AddTo(shelf, MenuText(desktop.shelf()[i]->description.name), {MenuCommand::kDropIn, i},
                column);
  }
}

bool IsSelf(const Neighbour& neighbour, const Desktop& desktop) {
  return desktop.seat() && desktop.seat()->desktop == neighbour.desktop;
}

// A name as it is in a menu: not longer than a menu is wide.
std::wstring NameInMenu(const std::string& name) {
  std::wstring text = Wide(name);
  if (text.size() > kMenuNameLettersMax) {
    // Not between the two halves of a character.
    const bool is_half = IS_HIGH_SURROGATE(text[kMenuNameLettersMax - 1]) != 0;
    text.resize(kMenuNameLettersMax - (is_half ? 1 : 0));
    text += L"…";
  }
  return text;
}

// The words of an entry. The names in it have no access keys.
std::wstring Entry(const Desktop& desktop, Text text, const std::string& name = "") {
  std::wstring shown;
  for (const wchar_t letter : NameInMenu(name)) {
    shown += letter == L'&' ? L"&&" : std::wstring(1, letter);
  }
  return Wide(Say(desktop.language(), text, {Narrow(shown)}));
}

// Muted names first, checked, then the neighbours that are not muted.
void AddMuteMenu(Menu* menu, const Desktop& desktop) {
  std::vector<Neighbour> names;
  for (const std::string& name : desktop.settings().muted) {
    names.push_back({"", name});
  }
  const size_t muted = names.size();
  if (desktop.neighbours()) {
    for (const Neighbour& neighbour : *desktop.neighbours()) {
      const auto is_same = [&](const Neighbour& other) {
        return other.DisplayName() == neighbour.DisplayName();
      };
      const auto known = std::ranges::find_if(names, is_same);
      if (known != names.end()) {
        known->desktop = neighbour.desktop;  // so that the relay can end the mute
      } else if (!neighbour.DisplayName().empty() && !IsSelf(neighbour, desktop)) {
        names.push_back(neighbour);
      }
    }
  }
  if (names.empty()) {
    return;
  }
  const HMENU mute = menu->AddMenu(Entry(desktop, Text::kMenuMute));
  for (size_t i = 0; i < names.size(); i++) {
    menu->AddTo(mute, MenuText(names[i].DisplayName()),
                {MenuCommand::kMute, 0, names[i], i >= muted}, i < muted ? MF_CHECKED : 0);
  }
}

void AddHelpMenu(Menu* menu, const Desktop& desktop) {
  const HMENU help = menu->AddMenu(Entry(desktop, Text::kMenuHelp));
  menu->AddTo(help, Entry(desktop, Text::kHelpHowTo), {MenuCommand::kHowToPlay});
  menu->AddTo(help, Entry(desktop, Text::kHelpDiagnostics), {MenuCommand::kDiagnostics});
  menu->AddTo(help, Entry(desktop, Text::kHelpUpdate), {MenuCommand::kUpdate});
  AppendMenuW(help, MF_SEPARATOR, 0, nullptr);
  menu->AddTo(help, Entry(desktop, Text::kHelpAbout), {MenuCommand::kAbout});
}

// The name of the neighbour beyond an edge; empty if nobody is there.
std::string NameBeyond(const Desktop& desktop, size_t edge) {
  if (!desktop.neighbours() || desktop.link() != Link::kConnected) {
    return "";
  }
  const Neighbour& neighbour = (*desktop.neighbours())[edge];
  return IsSelf(neighbour, desktop) ? "" : neighbour.name;
}

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
  description.uFlags = NIF_INFO | NIF_REALTIME;
  description.dwInfoFlags = NIIF_USER | NIIF_NOSOUND | NIIF_RESPECT_QUIET_TIME;
  description.hBalloonIcon = nullptr;
  CopyText(Wide(toast.title), description.szInfoTitle);
  CopyText(Wide(toast.text.empty() ? " " : toast.text),
           description.szInfo);  // an empty text would show no toast
  Shell_NotifyIconW(NIM_MODIFY, &description);
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

MenuChoice ShowTrayMenu(HWND window, POINT point, const Desktop& desktop) {
  Menu menu;
  menu.Add(MenuText(StatusOf(desktop)), {}, MF_GRAYED);
  menu.AddLine();
  AddShelfMenu(&menu, desktop);
  menu.Add(Entry(desktop, Text::kMenuInvite), {MenuCommand::kInvite},
           desktop.InvitationLink().empty() ? MF_GRAYED : 0);
  menu.Add(Entry(desktop, Text::kMenuOpenLink), {MenuCommand::kOpenLink});
  menu.AddLine();
  AddMuteMenu(&menu, desktop);
  menu.Add(Entry(desktop, Text::kMenuPause), {MenuCommand::kPause, 0, {}, !desktop.is_paused()},
           desktop.is_paused() ? MF_CHECKED : 0);
  menu.Add(Entry(desktop, Text::kMenuSettings), {MenuCommand::kSettings});
  AddHelpMenu(&menu, desktop);
  menu.AddLine();
  menu.Add(Entry(desktop, Text::kMenuQuit), {MenuCommand::kQuit});
  return menu.Ask(window, point);
}

MenuChoice ShowSpriteMenu(HWND window, POINT point, const Desktop& desktop, const Sprite& sprite) {
  constexpr Text kEdges[] = {Text::kSpriteThrowLeft, Text::kSpriteThrowRight, Text::kSpriteThrowUp,
                             Text::kSpriteThrowDown};
  constexpr Text kEdgesTo[] = {Text::kSpriteThrowLeftTo, Text::kSpriteThrowRightTo,
                               Text::kSpriteThrowUpTo, Text::kSpriteThrowDownTo};
  Menu menu;
  const Neighbour* sender = desktop.SenderOf(sprite.id);
  const std::string title = sender == nullptr ? sprite.name
                                              : Say(desktop.language(), Text::kSpriteFrom,
                                                    {sprite.name, sender->DisplayName()});
  menu.Add(MenuText(title), {}, MF_GRAYED);
  menu.AddLine();
  for (size_t i = 0; i < std::size(kEdges); i++) {
    const std::string name = NameBeyond(desktop, i);
    menu.Add(Entry(desktop, name.empty() ? kEdges[i] : kEdgesTo[i], name),
             {MenuCommand::kThrow, i});
  }
  menu.AddLine();
  if (sprite.from_shelf) {
    menu.Add(Entry(desktop, Text::kSpritePutAway), {MenuCommand::kPutAway});
    return menu.Ask(window, point);
  }
  menu.Add(Entry(desktop, Text::kSpriteHide), {MenuCommand::kHide},
           desktop.IsHidden(sprite.file) ? MF_GRAYED : 0);
  if (sender != nullptr && !IsSelf(*sender, desktop)) {
    menu.Add(Entry(desktop, Text::kSpriteMute, sender->DisplayName()),
             {MenuCommand::kMute, 0, *sender, true});
  }
  menu.Add(Entry(desktop, Text::kSpriteReport), {MenuCommand::kReport},
           desktop.seat() ? 0 : MF_GRAYED);
  return menu.Ask(window, point);
}

std::string StatusOf(const Desktop& desktop) {
  const Language language = desktop.language();
  const std::string host = HostOf(desktop.settings().relay);
  if (host.empty()) {
    return Say(language, Text::kStatusNoRelay);
  }
  if (desktop.link() == Link::kConnected && desktop.seat()) {
    const std::string& world = desktop.seat()->world;
    // Names that the page makes for private worlds mean nothing to people.
    const bool is_private = world.starts_with("private-");
    return is_private          ? Say(language, Text::kStatusPrivate, {host})
           : world != kCommons ? Say(language, Text::kStatusWorld, {host, world})
           : desktop.IsAlone() ? Say(language, Text::kStatusAlone, {host})
                               : Say(language, Text::kStatusTogether, {host});
  }
  const bool is_lost = desktop.IsUnreachable() || desktop.link() == Link::kBroken;
  return Say(language, is_lost ? Text::kStatusUnreachable : Text::kStatusJoining, {host});
}

}  // namespace sprites
