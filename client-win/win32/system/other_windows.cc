#include "win32/system/other_windows.h"

#include <dwmapi.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace sprites {

namespace {

// Window classes of the desktop itself: sprites do not stand on these, and users do not move them.
constexpr std::array<std::wstring_view, 6> kOfTheDesktop = {
    L"Progman",       L"WorkerW",
    L"Shell_TrayWnd", L"Shell_SecondaryTrayWnd",
    L"#32769",        L"Windows.UI.Core.CoreWindow"};

bool IsOfTheDesktop(HWND window) {
  wchar_t name[64];
  const int size = GetClassNameW(window, name, 64);
  return std::ranges::find(kOfTheDesktop, std::wstring_view(name, static_cast<size_t>(size))) !=
         kOfTheDesktop.end();
}

// True for a window on another virtual desktop and for a suspended store app.
bool IsCloaked(HWND window) {
  DWORD cloaked = 0;
  return SUCCEEDED(DwmGetWindowAttribute(window, DWMWA_CLOAKED, &cloaked, sizeof cloaked)) &&
         cloaked != 0;
}

DWORD ProcessOf(HWND window) {
  DWORD process = 0;
  GetWindowThreadProcessId(window, &process);
  return process;
}

Rect RectOf(const RECT& rect) {
  return {static_cast<double>(rect.left), static_cast<double>(rect.top),
          static_cast<double>(rect.right), static_cast<double>(rect.bottom)};
}

RECT RectOf(const Rect& rect) {
  return {static_cast<LONG>(rect.left), static_cast<LONG>(rect.top), static_cast<LONG>(rect.right),
          static_cast<LONG>(rect.bottom)};
}

// True for a window with a title or border to drag, or with a button on the task bar; false for
// menus, tooltips and splash screens.
bool IsMovable(HWND window) {
  const LONG_PTR style = GetWindowLongPtrW(window, GWL_STYLE);
  const LONG_PTR extended = GetWindowLongPtrW(window, GWL_EXSTYLE);
  const bool has_frame = (style & WS_CAPTION) == WS_CAPTION || (style & WS_THICKFRAME) != 0;
  return (has_frame || (extended & WS_EX_APPWINDOW) != 0) && (extended & WS_EX_NOACTIVATE) == 0;
}

BOOL CALLBACK OnWindow(HWND window, LPARAM context) {
  WINDOWPLACEMENT placement{};
  placement.length = sizeof placement;
  RECT shown{};
  const bool is_listed = IsOfAnotherProgram(window) && IsMovable(window) &&
                         GetWindowPlacement(window, &placement) && GetWindowRect(window, &shown);
  if (!is_listed) {
    return TRUE;
  }
  const WindowState state = IsIconic(window)   ? WindowState::kMinimised
                            : IsZoomed(window) ? WindowState::kMaximised
                                               : WindowState::kNormal;
  auto* windows = reinterpret_cast<std::vector<OpenWindow>*>(context);
  windows->push_back({reinterpret_cast<uint64_t>(window), ProcessOf(window), state, RectOf(shown),
                      RectOf(placement.rcNormalPosition)});
  return windows->size() < kPlacesMax;
}

void Place(HWND window, const PutBack& place) {
  if (place.state == WindowState::kNormal && place.shown != Rect{}) {
    const RECT shown = RectOf(place.shown);
    SetWindowPos(window, nullptr, shown.left, shown.top, shown.right - shown.left,
                 shown.bottom - shown.top,
                 SWP_NOZORDER | SWP_NOACTIVATE | SWP_NOOWNERZORDER | SWP_ASYNCWINDOWPOS);
    return;
  }
  WINDOWPLACEMENT placement{};
  placement.length = sizeof placement;
  if (!GetWindowPlacement(window, &placement)) {
    return;
  }
  const bool is_minimised = place.state == WindowState::kMinimised;
  placement.rcNormalPosition = RectOf(place.normal);
  placement.showCmd = is_minimised ? SW_SHOWMINNOACTIVE : SW_SHOWNOACTIVATE;
  placement.flags |= WPF_ASYNCWINDOWPLACEMENT;
  SetWindowPlacement(window, &placement);
  if (place.state == WindowState::kMaximised) {
    ShowWindowAsync(window, SW_SHOWMAXIMIZED);  // on the monitor it is on now
  }
}

}  // namespace

bool IsOfAnotherProgram(HWND window) {
  return IsWindowVisible(window) && ProcessOf(window) != GetCurrentProcessId() &&
         !IsCloaked(window) && !IsOfTheDesktop(window);
}

std::vector<OpenWindow> OtherWindowsNow() {
  std::vector<OpenWindow> windows;
  EnumWindows(OnWindow, reinterpret_cast<LPARAM>(&windows));
  return windows;
}

void PutBackNow(const std::vector<PutBack>& windows) {
  const HWND front = GetForegroundWindow();
  for (const PutBack& place : windows) {
    Place(reinterpret_cast<HWND>(place.id), place);
  }
  const bool maximises = std::ranges::any_of(
      windows, [](const PutBack& place) { return place.state == WindowState::kMaximised; });
  if (maximises && front != nullptr) {
    SetForegroundWindow(front);  // maximising a window brings it to the front
  }
}

}  // namespace sprites
