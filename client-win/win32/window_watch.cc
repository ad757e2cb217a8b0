#include "win32/window_watch.h"

#include <dwmapi.h>

#include <algorithm>
#include <array>
#include <utility>

#include "win32/other_windows.h"

namespace sprites {

namespace {

constexpr std::array<std::pair<DWORD, DWORD>, 3> kEvents = {
    {{EVENT_SYSTEM_FOREGROUND, EVENT_SYSTEM_FOREGROUND},
     {EVENT_SYSTEM_MOVESIZESTART, EVENT_SYSTEM_MINIMIZEEND},
     {EVENT_OBJECT_DESTROY, EVENT_OBJECT_LOCATIONCHANGE}}};

// The visible part of a window: without the invisible border around it, if Windows reports that.
bool VisibleRect(HWND window, RECT* rect) {
  return SUCCEEDED(
             DwmGetWindowAttribute(window, DWMWA_EXTENDED_FRAME_BOUNDS, rect, sizeof *rect)) ||
         GetWindowRect(window, rect);
}

struct Listing {
  std::vector<WindowArea> windows;
  HWND foreground = GetForegroundWindow();
};

BOOL CALLBACK OnWindow(HWND window, LPARAM context) {
  auto* listing = reinterpret_cast<Listing*>(context);
  const LONG_PTR extended = GetWindowLongPtrW(window, GWL_EXSTYLE);
  const bool lets_clicks_through = (extended & WS_EX_TRANSPARENT) != 0;
  RECT rect{};
  const bool is_left_out = IsIconic(window) || !IsOfAnotherProgram(window) || lets_clicks_through ||
                           !VisibleRect(window, &rect) || rect.right <= rect.left ||
                           rect.bottom <= rect.top;
  if (is_left_out) {
    return TRUE;
  }
  const LONG_PTR style = GetWindowLongPtrW(window, GWL_STYLE);
  listing->windows.push_back({reinterpret_cast<uint64_t>(window),
                              {static_cast<double>(rect.left), static_cast<double>(rect.top),
                               static_cast<double>(rect.right), static_cast<double>(rect.bottom)},
                              (style & WS_CAPTION) == WS_CAPTION,
                              window == listing->foreground});
  return listing->windows.size() < kWindowsMax;
}

bool IsSame(const WindowArea& one, const WindowArea& other) {
  return one.id == other.id && one.rect == other.rect && one.has_caption == other.has_caption &&
         one.is_foreground == other.is_foreground;
}

}  // namespace

WindowWatch* WindowWatch::watch_ = nullptr;

WindowWatch::WindowWatch() {
  watch_ = this;
  for (const auto& [first, last] : kEvents) {
    hooks_.emplace_back(SetWinEventHook(first, last, nullptr, OnEvent, 0, 0,
                                        WINEVENT_OUTOFCONTEXT | WINEVENT_SKIPOWNPROCESS));
  }
}

WindowWatch::~WindowWatch() { watch_ = nullptr; }

bool WindowWatch::Look() {
  may_have_changed_ = false;
  Listing listing;
  EnumWindows(OnWindow, reinterpret_cast<LPARAM>(&listing));
  if (std::ranges::equal(listing.windows, windows_, IsSame)) {
    return false;
  }
  windows_ = std::move(listing.windows);
  return true;
}

void CALLBACK WindowWatch::OnEvent(HWINEVENTHOOK, DWORD, HWND window, LONG object, LONG child,
                                   DWORD, DWORD) {
  const bool is_a_window = window != nullptr && object == OBJID_WINDOW && child == CHILDID_SELF;
  if (watch_ != nullptr && is_a_window && GetAncestor(window, GA_ROOT) == window) {
    watch_->may_have_changed_ = true;
  }
}

}  // namespace sprites
