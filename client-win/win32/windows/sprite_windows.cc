#include "win32/windows/sprite_windows.h"

#include <shellapi.h>
#include <windowsx.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>

#include "core/picture/importer.h"

namespace sprites {

namespace {

constexpr wchar_t kClass[] = L"SpritesSprite";
constexpr DWORD kStyle = WS_POPUP;
// Layered: with an alpha channel. Above other windows, and without a button on the task bar.
constexpr DWORD kStyleWithoutClicks =
    WS_EX_LAYERED | WS_EX_TOOLWINDOW | WS_EX_TOPMOST | WS_EX_NOACTIVATE | WS_EX_TRANSPARENT;
constexpr DWORD kExtendedStyle = (kStyleWithoutClicks & ~WS_EX_TRANSPARENT) | WS_EX_ACCEPTFILES;
constexpr UINT kPlacementFlags =
    SWP_NOSIZE | SWP_NOACTIVATE | SWP_NOOWNERZORDER | SWP_NOSENDCHANGING;
constexpr ULONGLONG kPassMs = 300;        // longer than between two steps of a wheel that turns
constexpr UINT kCopyGlobalData = 0x0049;  // carries the names of dropped files; no header has it

// The position of the pointer when the current message was sent, in px of the virtual screen: the
// window may have moved since, so coordinates relative to it would be wrong.
Point MessagePoint() {
  const DWORD place = GetMessagePos();
  return {static_cast<double>(GET_X_LPARAM(place)), static_cast<double>(GET_Y_LPARAM(place))};
}

uint32_t MessageMs() { return static_cast<uint32_t>(GetMessageTime()); }

std::optional<Key> KeyOf(WPARAM key) {
  switch (key) {
    case VK_LEFT:
      return Key::kLeft;
    case VK_RIGHT:
      return Key::kRight;
    case VK_UP:
      return Key::kUp;
    case VK_DOWN:
      return Key::kDown;
    case VK_SPACE:
      return Key::kSpace;
    case 'W':
      return Key::kWave;
    case 'H':
      return Key::kHeart;
    case 'L':
      return Key::kLaugh;
    default:
      return std::nullopt;
  }
}

ClickLimits ClickLimitsNow() {
  return {static_cast<double>(GetSystemMetrics(SM_CXDRAG)),
          static_cast<double>(GetSystemMetrics(SM_CYDRAG)), GetDoubleClickTime()};
}

std::vector<std::filesystem::path> PathsOf(HDROP drop) {
  const auto path_at = [drop](size_t index) {
    const UINT i = static_cast<UINT>(index);
    std::wstring path(DragQueryFileW(drop, i, nullptr, 0) + 1, 0);
    path.resize(DragQueryFileW(drop, i, path.data(), static_cast<UINT>(path.size())));
    return path;
  };
  const std::vector<std::wstring> paths =
      DroppedPaths(DragQueryFileW(drop, 0xFFFFFFFF, nullptr, 0), path_at);
  DragFinish(drop);
  return {paths.begin(), paths.end()};
}

// Turns a bit of the extended style on or off.
void SetExtendedStyle(HWND window, LONG_PTR bit, bool is_on) {
  const LONG_PTR style = GetWindowLongPtrW(window, GWL_EXSTYLE);
  SetWindowLongPtrW(window, GWL_EXSTYLE, is_on ? style | bit : style & ~bit);
}

UINT FlagsOf(const Placement& placement) {
  UINT flags = kPlacementFlags;
  flags |= placement.moves ? 0 : SWP_NOMOVE;
  flags |= placement.below ? 0 : SWP_NOZORDER;
  flags |= placement.appears ? SWP_SHOWWINDOW : 0;
  flags |= placement.disappears ? SWP_HIDEWINDOW : 0;
  // A window that only moves keeps its pixels.
  return placement.appears || placement.disappears ? flags : flags | SWP_NOREDRAW;
}

}  // namespace

SpriteWindows::SpriteWindows(const wchar_t* name, const Sharing* sharing, SpriteListener* listener,
                             Foreground* foreground)
    : name_(name),
      sharing_(sharing),
      listener_(listener),
      foreground_(foreground),
      class_(RegisterWindowClass()),
      canvas_(CreateCompatibleDC(nullptr)),
      takes_clicks_(listener != nullptr),
      hand_(listener) {}

// 0 if another group has registered it already.
ATOM SpriteWindows::RegisterWindowClass() {
  WNDCLASSEXW description{};
  description.cbSize = sizeof description;
  description.lpfnWndProc = OnMessage;
  description.cbWndExtra = sizeof(LONG_PTR);
  description.hInstance = GetModuleHandleW(nullptr);
  description.hCursor = LoadCursorW(nullptr, IDC_HAND);
  description.lpszClassName = kClass;
  return RegisterClassExW(&description);
}

SpriteWindows::~SpriteWindows() {
  for (const auto& [id, window] : windows_) {
    SetWindowLongPtrW(window, GWLP_USERDATA, 0);
    DestroyWindow(window);
  }
  if (class_ != 0) {
    UnregisterClassW(kClass, GetModuleHandleW(nullptr));
  }
}

void SpriteWindows::Show(std::span<const DrawnSprite> sprites, HWND above) {
  TakeClicksAgain();
  const WindowPlan& plan = planner_.Plan(sprites);
  for (const SpriteId id : plan.closed) {
    DestroyWindowOf(id);
  }
  if (!plan.closed.empty()) {
    atlas_.DropUnused();
  }
  for (const SpriteId id : plan.created) {
    CreateWindowFor(id, above);
  }
  for (const size_t index : plan.painted) {
    if (!Paint(sprites[index])) {
      planner_.NotPainted(sprites[index].id);
    }
  }
  if (!plan.placements.empty()) {
    Place(plan.placements, above);
  }
  lowest_ = sprites.empty() ? nullptr : windows_[sprites.front().id];
}

// Creates a hidden window on top of the others of this group, as the planner expects: Windows puts
// a new one on top of all, so it goes below `above` before it is shown.
void SpriteWindows::CreateWindowFor(SpriteId id, HWND above) {
  const DWORD clickable = takes_clicks_ ? 0 : WS_EX_TRANSPARENT;
  const HWND window = CreateWindowExW(
      listener_ != nullptr ? kExtendedStyle | clickable : kStyleWithoutClicks, kClass, name_,
      kStyle, 0, 0, 1, 1, nullptr, nullptr, GetModuleHandleW(nullptr), nullptr);
  SetWindowLongPtrW(window, 0, static_cast<LONG_PTR>(id));
  SetWindowLongPtrW(window, GWLP_USERDATA, reinterpret_cast<LONG_PTR>(this));
  // Files can be dropped on it when the program runs as an administrator too.
  for (const UINT message : {UINT{WM_DROPFILES}, kCopyGlobalData}) {
    ChangeWindowMessageFilterEx(window, message, MSGFLT_ALLOW, nullptr);
  }
  if (above != nullptr) {
    SetWindowPos(window, above, 0, 0, 0, 0, kPlacementFlags | SWP_NOMOVE);
  }
  sharing_->Add(window);
  windows_[id] = window;
  cost_.windows++;
}

void SpriteWindows::DestroyWindowOf(SpriteId id) {
  const auto ended =
      windows_.extract(id);  // before it is destroyed: its last messages still arrive here
  ReturnKeys(ended.mapped());
  DestroyWindow(ended.mapped());
  cost_.windows++;
}

// Sets the picture and the place in one call, so that they change together. Returns false if memory
// is short.
bool SpriteWindows::Paint(const DrawnSprite& drawn) {
  HBITMAP bitmap = nullptr;
  POINT origin{};
  if (drawn.under) {
    bitmap = PaintComposed(drawn);
  } else if (const FrameAtlas::Frame frame = atlas_.Find(drawn); frame.surface != nullptr) {
    bitmap = static_cast<FrameSurface*>(frame.surface)->bitmap();
    origin = {drawn.Shown().x, frame.top + drawn.Shown().y};
  }
  if (bitmap == nullptr) {
    return false;
  }
  const HGDIOBJ before = SelectObject(canvas_.get(), bitmap);
  const Crop covered = drawn.Covered();
  POINT place{drawn.Left(), drawn.Top()};
  SIZE size{covered.width, covered.height};
  BLENDFUNCTION blend{AC_SRC_OVER, 0, 255, AC_SRC_ALPHA};
  const BOOL done = UpdateLayeredWindow(windows_[drawn.id], nullptr, &place, &size, canvas_.get(),
                                        &origin, 0, &blend, ULW_ALPHA);
  SelectObject(canvas_.get(), before);
  cost_.pictures++;
  return done != FALSE;
}

// Draws a sprite with its shadow into composed_. Returns null if memory is short.
HBITMAP SpriteWindows::PaintComposed(const DrawnSprite& drawn) {
  const Crop covered = drawn.Covered();
  if (composed_ == nullptr || covered.width > composed_size_.cx ||
      covered.height > composed_size_.cy) {
    composed_size_ = {std::max<LONG>(covered.width, composed_size_.cx),
                      std::max<LONG>(covered.height, composed_size_.cy)};
    composed_ = FrameSurface::Make(composed_size_.cx, composed_size_.cy);
  }
  if (composed_ == nullptr ||
      !DrawComposed(drawn, &atlas_, composed_->Pixels(), composed_size_.cx)) {
    return nullptr;
  }
  return static_cast<FrameSurface*>(composed_.get())->bitmap();
}

// Places all windows in one batch, or one by one if Windows has no memory for a batch. `top`: the
// window directly above all of them; null for none.
void SpriteWindows::Place(const std::vector<Placement>& placements, HWND top) {
  const auto above = [&](const Placement& placement) {
    return placement.below.value_or(kNobody) != kNobody ? windows_[*placement.below]
           : top != nullptr                             ? top
                                                        : HWND_TOPMOST;
  };
  for (const Placement& placement : placements) {
    if (placement.disappears) {
      ReturnKeys(windows_[placement.id]);
    }
  }
  HDWP batch = BeginDeferWindowPos(static_cast<int>(placements.size()));
  for (const Placement& placement : placements) {
    if (batch != nullptr) {
      batch = DeferWindowPos(batch, windows_[placement.id], above(placement), placement.x,
                             placement.y, 0, 0, FlagsOf(placement));
    }
  }
  cost_.placements += placements.size();
  cost_.batches++;
  if (batch != nullptr && EndDeferWindowPos(batch)) {
    return;
  }
  for (const Placement& placement : placements) {
    SetWindowPos(windows_[placement.id], above(placement), placement.x, placement.y, 0, 0,
                 FlagsOf(placement));
  }
}

LRESULT CALLBACK SpriteWindows::OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam) {
  auto* own = reinterpret_cast<SpriteWindows*>(GetWindowLongPtrW(window, GWLP_USERDATA));
  if (own == nullptr || own->listener_ == nullptr) {
    return DefWindowProcW(window, message, wparam, lparam);
  }
  const auto id = static_cast<SpriteId>(GetWindowLongPtrW(window, 0));
  return own->HandleMessage(window, id, message, wparam, lparam);
}

LRESULT SpriteWindows::HandleMessage(HWND window, SpriteId id, UINT message, WPARAM wparam,
                                     LPARAM lparam) {
  switch (message) {
    case WM_NCHITTEST:
      if (IsOnShadow(id, {GET_X_LPARAM(lparam), GET_Y_LPARAM(lparam)})) {
        PassClicks(id);
        return HTTRANSPARENT;
      }
      break;
    case WM_MOUSEACTIVATE:
      return MA_NOACTIVATE;  // a throw takes no keyboard focus; a click does (HandleRelease)
    case WM_LBUTTONDOWN:
      SetCapture(window);
      hand_.Press(id, MessagePoint(), MessageMs(), ClickLimitsNow());
      return 0;
    case WM_MOUSEMOVE:
      if (GetCapture() == window) {
        hand_.Move(MessagePoint(), MessageMs());
      }
      return 0;
    case WM_LBUTTONUP:
      if (GetCapture() == window) {
        HandleRelease(window, id);
      }
      return 0;
    case WM_CANCELMODE:
      return 0;  // also sent with a late change of focus, which must not end a drag
    case WM_CAPTURECHANGED:
      hand_.Lose(MessageMs());
      return 0;
    case WM_RBUTTONUP:
      listener_->RightClicked(id, MessagePoint());
      return 0;
    case WM_MBUTTONDOWN:
    case WM_XBUTTONDOWN:
    case WM_MOUSEWHEEL:
    case WM_MOUSEHWHEEL:
      PassOn(id, message, wparam);
      return 0;
    case WM_KEYDOWN:
    case WM_KEYUP:
      if (HandleKey(window, wparam, message == WM_KEYDOWN)) {
        return 0;
      }
      break;  // Windows makes WM_CONTEXTMENU of the menu key
    case WM_CONTEXTMENU: {
      RECT place{};
      GetWindowRect(window, &place);
      listener_->RightClicked(id,
                              {(place.left + place.right) / 2.0, (place.top + place.bottom) / 2.0});
      return 0;
    }
    case WM_DPICHANGED:
      listener_->MonitorsChanged();
      return 0;  // the core knows how large the sprite is there
    case WM_KILLFOCUS:
      SetExtendedStyle(window, WS_EX_NOACTIVATE, true);
      listener_->KeysLost();
      return 0;
    case WM_DROPFILES:
      listener_->Dropped(PathsOf(reinterpret_cast<HDROP>(wparam)));
      return 0;
    case WM_CLOSE:
      return 0;  // Alt+F4 on a sprite does nothing
    default:
      break;
  }
  return DefWindowProcW(window, message, wparam, lparam);
}

bool SpriteWindows::HandleKey(HWND window, WPARAM key, bool is_down) {
  if (const auto known = KeyOf(key)) {
    listener_->Pressed(*known, is_down, GetKeyState(VK_CONTROL) < 0);
    return true;
  }
  if (is_down && key == VK_TAB) {
    listener_->Stepped(GetKeyState(VK_SHIFT) < 0);
    return true;
  }
  if (is_down && key == VK_ESCAPE) {
    ReturnKeys(window);
    return true;
  }
  return false;
}

bool SpriteWindows::GiveKeysTo(SpriteId id, const std::wstring& name) {
  const auto own = windows_.find(id);
  if (own == windows_.end()) {
    return false;
  }
  SetWindowTextW(own->second, name.c_str());
  TakeKeys(own->second);
  return true;
}

// The window gets the keys from now on. The window that had them reports KeysLost before this
// returns.
void SpriteWindows::TakeKeys(HWND window) {
  foreground_->Remember();
  SetExtendedStyle(window, WS_EX_NOACTIVATE, false);
  SetForegroundWindow(window);
}

// Gives the keys back if the window has them.
void SpriteWindows::ReturnKeys(HWND window) {
  if (listener_ != nullptr && GetForegroundWindow() == window) {
    SetExtendedStyle(window, WS_EX_NOACTIVATE, true);
    foreground_->GiveBack();
  }
}

// Whether a point of the window shows only the shadow of its sprite.
bool SpriteWindows::IsOnShadow(SpriteId id, POINT point) {
  const DrawnSprite* drawn = planner_.Find(id);
  return drawn != nullptr && drawn->under && GetCapture() == nullptr &&
         !IsOnSprite(*drawn, point.x, point.y, &atlas_);
}

// From the next event on, the window of this sprite takes no clicks. One at a time.
void SpriteWindows::PassClicks(SpriteId id) {
  TakeClicksAgain();
  if (passing_ == kNobody) {
    passing_ = id;
    SetExtendedStyle(windows_[id], WS_EX_TRANSPARENT, true);
  }
}

// Passes what the sprite has no use for to the window below: it takes no clicks for a moment, and
// the event comes again, so Windows itself finds the window that gets it and what follows.
void SpriteWindows::PassOn(SpriteId id, UINT message, WPARAM wparam) {
  if (passing_ == id || GetCapture() != nullptr) {
    return;  // it has come here again
  }
  passed_until_ms_ = 0;  // of another sprite, where the pointer has been
  PassClicks(id);
  if (passing_ != id) {
    return;
  }
  passed_until_ms_ = GetTickCount64() + kPassMs;
  INPUT again{};
  again.type = INPUT_MOUSE;
  again.mi.mouseData = HIWORD(wparam);
  switch (message) {
    case WM_MBUTTONDOWN:
      again.mi.mouseData = 0;
      again.mi.dwFlags = MOUSEEVENTF_MIDDLEDOWN;
      break;
    case WM_XBUTTONDOWN:
      again.mi.dwFlags = MOUSEEVENTF_XDOWN;
      break;
    default:
      again.mi.mouseData = static_cast<DWORD>(GET_WHEEL_DELTA_WPARAM(wparam));
      again.mi.dwFlags = message == WM_MOUSEWHEEL ? MOUSEEVENTF_WHEEL : MOUSEEVENTF_HWHEEL;
      break;
  }
  SendInput(1, &again, sizeof again);
}

bool SpriteWindows::PassesOn() const {
  return GetTickCount64() < passed_until_ms_ ||
         std::ranges::any_of(std::array{VK_MBUTTON, VK_XBUTTON1, VK_XBUTTON2},
                             [](int button) { return (GetAsyncKeyState(button) & 0x8000) != 0; });
}

// A window that took no clicks takes them again once the pointer has left its shadow. A turn comes
// at least four times a second.
void SpriteWindows::TakeClicksAgain() {
  if (passing_ == kNobody) {
    return;
  }
  const auto window = windows_.find(passing_);
  POINT point{};
  RECT place{};
  const bool is_there = window != windows_.end() && GetCursorPos(&point) &&
                        GetWindowRect(window->second, &place) && PtInRect(&place, point) &&
                        IsOnShadow(passing_, point);
  if (is_there || (passed_until_ms_ != 0 && PassesOn())) {
    return;
  }
  passed_until_ms_ = 0;
  if (window != windows_.end()) {
    SetExtendedStyle(window->second, WS_EX_TRANSPARENT, !takes_clicks_);
  }
  passing_ = kNobody;
}

void SpriteWindows::SetTakesClicks(bool takes_clicks) {
  if (takes_clicks == takes_clicks_) {
    return;
  }
  takes_clicks_ = takes_clicks;
  for (const auto& [id, window] : windows_) {
    SetExtendedStyle(window, WS_EX_TRANSPARENT, !takes_clicks);
    if (!takes_clicks) {
      ReturnKeys(window);
    }
  }
}

void SpriteWindows::HandleRelease(HWND window, SpriteId id) {
  const Gesture gesture = hand_.Release(MessagePoint(), MessageMs());
  ReleaseCapture();
  if (gesture == Gesture::kClick) {
    TakeKeys(window);
    listener_->Clicked(id);
  } else if (gesture == Gesture::kDoubleClick) {
    listener_->DoubleClicked();
  }
}

}  // namespace sprites
