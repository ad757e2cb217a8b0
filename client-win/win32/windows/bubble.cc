#include "win32/windows/bubble.h"

#include <windowsx.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "win32/windows/bubble_picture.h"

namespace sprites {

namespace {

constexpr wchar_t kClass[] = L"SpritesBubble";
constexpr double kTailHeight = 9;  // dip
constexpr double kTailInset = 17;  // dip: from the corners of the bubble to the tail
constexpr double kWidthMax = 400;  // dip
constexpr int kDpi = 96;

}  // namespace

Bubble::Bubble(std::function<void()> clicked) : clicked_(std::move(clicked)) {
  WNDCLASSW description{};
  description.lpfnWndProc = OnMessage;
  description.hInstance = GetModuleHandleW(nullptr);
  description.hCursor = LoadCursorW(nullptr, IDC_ARROW);
  description.lpszClassName = kClass;
  RegisterClassW(&description);
  window_ =
      CreateWindowExW(WS_EX_LAYERED | WS_EX_TOPMOST | WS_EX_TOOLWINDOW | WS_EX_NOACTIVATE, kClass,
                      L"", WS_POPUP, 0, 0, 0, 0, nullptr, nullptr, description.hInstance, nullptr);
  SetWindowLongPtrW(window_, GWLP_USERDATA, reinterpret_cast<LONG_PTR>(this));
}

Bubble::~Bubble() {
  SetWindowLongPtrW(window_, GWLP_USERDATA, 0);
  DestroyWindow(window_);
}

LRESULT CALLBACK Bubble::OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam) {
  auto* own = reinterpret_cast<Bubble*>(GetWindowLongPtrW(window, GWLP_USERDATA));
  if (own != nullptr && message == WM_LBUTTONUP) {
    own->clicked_();
    return 0;
  }
  if (message == WM_MOUSEACTIVATE) {
    return MA_NOACTIVATE;
  }
  return DefWindowProcW(window, message, wparam, lparam);
}

void Bubble::Show(const std::wstring& text, int x, int y) {
  const HMONITOR monitor = MonitorFromPoint({x, y}, MONITOR_DEFAULTTONEAREST);
  if (text != text_) {
    SetWindowPos(window_, nullptr, x, y, 0, 0, SWP_NOSIZE | SWP_NOZORDER | SWP_NOACTIVATE);
  }
  const int dpi = static_cast<int>(GetDpiForWindow(window_));
  const bool is_new = text != text_;
  if (is_new || dpi != dpi_) {
    const double scale = static_cast<double>(dpi) / kDpi;
    text_ = text;
    dpi_ = dpi;
    tail_x_ = -1;  // so that it is painted below
    box_ = MeasureBubble({L"", text}, static_cast<int>(std::lround(kWidthMax * scale)), scale);
  }
  MONITORINFO about{};
  about.cbSize = sizeof about;
  GetMonitorInfoW(monitor, &about);
  const double scale = static_cast<double>(dpi) / kDpi;
  const int margin = BubbleMargin(scale);
  const int tail = static_cast<int>(std::lround(kTailHeight * scale));
  const RECT& work = about.rcWork;
  const POINT box{
      std::clamp<LONG>(x - box_.cx / 2, work.left, std::max(work.left, work.right - box_.cx)),
      std::clamp<LONG>(y - tail - margin / 2 - box_.cy, work.top,
                       std::max(work.top, work.bottom - box_.cy))};
  // Beside an edge of the monitor, the tail still points at the sprite.
  const int inset = static_cast<int>(std::lround(kTailInset * scale));
  const int tail_x = std::clamp<int>(x - box.x, inset, std::max<int>(inset, box_.cx - inset));
  if (tail_x != tail_x_) {
    tail_x_ = tail_x;
    PaintBubble(window_, {L"", text_}, box_,
                BubbleTail{Edge::kBottom, static_cast<double>(tail_x_), static_cast<double>(tail)},
                scale);
  }
  const POINT place{box.x - margin, box.y - margin};
  if (is_new || place.x != place_.x || place.y != place_.y) {
    place_ = place;
    SetWindowPos(window_, HWND_TOPMOST, place.x, place.y, 0, 0, SWP_NOSIZE | SWP_NOACTIVATE);
  }
  if (is_new) {
    SetWindowTextW(window_, text.c_str());
    ShowWindow(window_, SW_SHOWNOACTIVATE);
    NotifyWinEvent(EVENT_SYSTEM_ALERT, window_, OBJID_WINDOW, CHILDID_SELF);
  }
}

void Bubble::Hide() {
  if (!text_.empty()) {
    text_.clear();
    ShowWindow(window_, SW_HIDE);
  }
}

}  // namespace sprites
