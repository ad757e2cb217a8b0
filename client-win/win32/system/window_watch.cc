#include "win32/system/window_watch.h"

#include <dwmapi.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/screen/window_kind.h"
#include "win32/system/other_windows.h"

namespace sprites {

namespace {

// Not EVENT_OBJECT_LOCATIONCHANGE of all programs: it comes with each move of the pointer and of
// each text cursor, and Windows can't filter it by object. It is hooked for the one thread whose
// window the user is moving.
constexpr std::array<std::pair<DWORD, DWORD>, 4> kEvents = {
    {{EVENT_SYSTEM_FOREGROUND, EVENT_SYSTEM_FOREGROUND},
     {EVENT_SYSTEM_MOVESIZESTART, EVENT_SYSTEM_MOVESIZEEND},
     {EVENT_SYSTEM_MINIMIZESTART, EVENT_SYSTEM_MINIMIZEEND},
     {EVENT_OBJECT_DESTROY, EVENT_OBJECT_HIDE}}};
constexpr UINT kHookFlags = WINEVENT_OUTOFCONTEXT | WINEVENT_SKIPOWNPROCESS;
constexpr int kClassNameMax = 64;  // characters: those of core/screen/window_kind.cc are shorter

// `name` has room for kClassNameMax characters, and lives as long as the result.
WindowTraits TraitsOf(HWND window, wchar_t* name) {
  const int size = GetClassNameW(window, name, kClassNameMax);
  const LONG_PTR style = GetWindowLongPtrW(window, GWL_STYLE);
  const LONG_PTR extended = GetWindowLongPtrW(window, GWL_EXSTYLE);
  WindowTraits traits;
  traits.class_name = {name, static_cast<size_t>(size)};
  traits.has_caption = (style & WS_CAPTION) == WS_CAPTION;
  traits.is_maximised = (style & WS_MAXIMIZE) != 0;
  traits.has_frame = (style & WS_THICKFRAME) != 0;
  traits.is_on_task_bar = (extended & WS_EX_APPWINDOW) != 0;
  traits.is_never_active = (extended & WS_EX_NOACTIVATE) != 0;
  traits.lets_clicks_through = (extended & WS_EX_TRANSPARENT) != 0;
  traits.is_tool = (extended & WS_EX_TOOLWINDOW) != 0;
  traits.is_layered = (extended & WS_EX_LAYERED) != 0;
  if (traits.is_layered) {
    BYTE alpha = 255;
    DWORD flags = 0;
    // It fails for a window that is drawn pixel by pixel.
    const bool has_alpha = GetLayeredWindowAttributes(window, nullptr, &alpha, &flags);
    traits.alpha = !has_alpha ? -1 : (flags & LWA_ALPHA) != 0 ? alpha : 255;
  }
  return traits;
}

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
  RECT rect{};
  if (IsIconic(window) || !IsOfAnotherProgram(window) || !VisibleRect(window, &rect) ||
      rect.right <= rect.left || rect.bottom <= rect.top) {
    return TRUE;
  }
  wchar_t name[kClassNameMax];
  const WindowTraits traits = TraitsOf(window, name);
  const WindowKind kind = KindOf(traits);
  if (kind == WindowKind::kIgnored) {
    return TRUE;
  }
  listing->windows.push_back({reinterpret_cast<uint64_t>(window),
                              {static_cast<double>(rect.left), static_cast<double>(rect.top),
                               static_cast<double>(rect.right), static_cast<double>(rect.bottom)},
                              !MayBeFilm(traits),
                              window == listing->foreground,
                              kind == WindowKind::kGround});
  return listing->windows.size() < kWindowsMax;
}

}  // namespace

WindowWatch* WindowWatch::watch_ = nullptr;

WindowWatch::WindowWatch() {
  watch_ = this;
  for (const auto& [first, last] : kEvents) {
    hooks_.emplace_back(SetWinEventHook(first, last, nullptr, OnEvent, 0, 0, kHookFlags));
  }
}

WindowWatch::~WindowWatch() { watch_ = nullptr; }

bool WindowWatch::Look() {
  may_have_changed_ = false;
  Listing listing;
  EnumWindows(OnWindow, reinterpret_cast<LPARAM>(&listing));
  if (listing.windows == windows_) {
    return false;
  }
  windows_ = std::move(listing.windows);
  return true;
}

void CALLBACK WindowWatch::OnEvent(HWINEVENTHOOK, DWORD event, HWND window, LONG object, LONG child,
                                   DWORD, DWORD) {
  const bool is_a_window = window != nullptr && object == OBJID_WINDOW && child == CHILDID_SELF;
  if (watch_ == nullptr || !is_a_window || !watch_->IsTopLevel(window)) {
    return;
  }
  watch_->may_have_changed_ = true;
  if (event == EVENT_SYSTEM_MOVESIZESTART) {
    watch_->FollowMoves(window);
  } else if (event == EVENT_SYSTEM_MOVESIZEEND) {
    watch_->moves_hook_.reset();
  }
}

// A window that has been destroyed has no ancestors any more, but it was in the list.
bool WindowWatch::IsTopLevel(HWND window) const {
  const auto is_it = [id = reinterpret_cast<uint64_t>(window)](const WindowArea& area) {
    return area.id == id;
  };
  return GetAncestor(window, GA_ROOT) == window || std::ranges::any_of(windows_, is_it);
}

// Reports each move of the windows of this window's thread, until the user lets go of it.
void WindowWatch::FollowMoves(HWND window) {
  DWORD process = 0;
  const DWORD thread = GetWindowThreadProcessId(window, &process);
  moves_hook_.reset(SetWinEventHook(EVENT_OBJECT_LOCATIONCHANGE, EVENT_OBJECT_LOCATIONCHANGE,
                                    nullptr, OnEvent, process, thread, kHookFlags));
}

}  // namespace sprites
