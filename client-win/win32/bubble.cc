#include "win32/bubble.h"

#include <windowsx.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "win32/dialog_look.h"

namespace sprites {

namespace {

constexpr wchar_t kClass[] = L"SpritesBubble";
// Sizes in dip.
constexpr double kPadding = 12;
constexpr double kRadius = 8;
constexpr double kTail = 9;    // height of the tail, and half of its width
constexpr double kShadow = 8;  // around the bubble
constexpr int kFontSize = 15;  // 9 points at 96 dpi need 12; a bubble is read from further away
constexpr double kShadowAlpha = 56;
constexpr int kDpi = 96;

// The distance from (x, y) to a rectangle with round corners; negative inside. Units: px.
double DistanceToBox(double x, double y, double width, double height, double radius) {
  const double dx = std::abs(x - width / 2) - (width / 2 - radius);
  const double dy = std::abs(y - height / 2) - (height / 2 - radius);
  const double outside = std::hypot(std::max(dx, 0.0), std::max(dy, 0.0));
  return outside + std::min(std::max(dx, dy), 0.0) - radius;
}

// The distance to the tail, a triangle whose tip points down at (middle, bottom + tail).
double DistanceToTail(double x, double y, double middle, double bottom, double tail) {
  const double side = std::abs(x - middle) - (bottom + tail - y);
  return std::max({side * std::sqrt(0.5), y - bottom - tail, bottom - 2 - y});
}

OwnedFont NewFont(int dpi) {
  NONCLIENTMETRICSW metrics{};
  metrics.cbSize = sizeof metrics;
  SystemParametersInfoW(SPI_GETNONCLIENTMETRICS, sizeof metrics, &metrics, 0);
  metrics.lfMessageFont.lfHeight = -MulDiv(kFontSize, dpi, kDpi);
  metrics.lfMessageFont.lfQuality = ANTIALIASED_QUALITY;  // ClearType needs to know what is below
  return OwnedFont(CreateFontIndirectW(&metrics.lfMessageFont));
}

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
    tail_x_ = -1;
    Paint(text, dpi);
  }
  if (is_new) {
    SetWindowTextW(window_, text.c_str());
    ShowWindow(window_, SW_SHOWNOACTIVATE);
    NotifyWinEvent(EVENT_SYSTEM_ALERT, window_, OBJID_WINDOW, CHILDID_SELF);
    place_ = {x - 1, y};  // so that it is placed below
  }
  MONITORINFO about{};
  about.cbSize = sizeof about;
  GetMonitorInfoW(monitor, &about);
  const LONG right = about.rcWork.right - size_.cx;
  const LONG bottom = about.rcWork.bottom - size_.cy;
  const POINT place{
      std::clamp<LONG>(x - size_.cx / 2, about.rcWork.left, std::max(about.rcWork.left, right)),
      std::clamp<LONG>(y - size_.cy, about.rcWork.top, std::max(about.rcWork.top, bottom))};
  // Beside an edge of the monitor, the tail still points at the sprite.
  const int margin = static_cast<int>(std::lround((kShadow + kRadius + kTail) * dpi / kDpi));
  const int tail_x = std::clamp<int>(x - place.x, margin, std::max<int>(margin, size_.cx - margin));
  if (tail_x != tail_x_) {
    tail_x_ = tail_x;
    Paint(text, dpi);
  }
  if (place.x != place_.x || place.y != place_.y) {
    place_ = place;
    SetWindowPos(window_, HWND_TOPMOST, place.x, place.y, 0, 0, SWP_NOSIZE | SWP_NOACTIVATE);
  }
}

void Bubble::Hide() {
  if (!text_.empty()) {
    text_.clear();
    ShowWindow(window_, SW_HIDE);
  }
}

void Bubble::Paint(const std::wstring& text, int dpi) {
  text_ = text;
  dpi_ = dpi;
  const double scale = static_cast<double>(dpi) / kDpi;
  const OwnedFont font = NewFont(dpi);
  const OwnedDc canvas(CreateCompatibleDC(nullptr));
  const HGDIOBJ old_font = SelectObject(canvas.get(), font.get());
  RECT words{};
  DrawTextW(canvas.get(), text.c_str(), -1, &words, DT_CALCRECT | DT_NOPREFIX);
  const int margin = static_cast<int>(std::lround(kShadow * scale));
  const int padding = static_cast<int>(std::lround(kPadding * scale));
  const int tail = static_cast<int>(std::lround(kTail * scale));
  const int width = words.right + 2 * padding;
  const int height = words.bottom + 2 * padding;
  const double middle = tail_x_ < 0 ? width / 2.0 : tail_x_ - margin;
  size_ = {width + 2 * margin, height + tail + 2 * margin};

  BITMAPINFO about{};
  about.bmiHeader.biSize = sizeof about.bmiHeader;
  about.bmiHeader.biWidth = size_.cx;
  about.bmiHeader.biHeight = -size_.cy;
  about.bmiHeader.biPlanes = 1;
  about.bmiHeader.biBitCount = 32;
  void* memory = nullptr;
  const OwnedBitmap bitmap(
      CreateDIBSection(canvas.get(), &about, DIB_RGB_COLORS, &memory, nullptr, 0));
  if (bitmap == nullptr) {
    return;
  }
  const HGDIOBJ old_bitmap = SelectObject(canvas.get(), bitmap.get());
  const RECT all{0, 0, size_.cx, size_.cy};
  FillRect(canvas.get(), &all, GetSysColorBrush(COLOR_WINDOW));
  SetTextColor(canvas.get(), GetSysColor(COLOR_WINDOWTEXT));
  SetBkMode(canvas.get(), TRANSPARENT);
  RECT inner{margin + padding, margin + padding, margin + padding + words.right,
             margin + padding + words.bottom};
  DrawTextW(canvas.get(), text.c_str(), -1, &inner, DT_NOPREFIX);
  GdiFlush();

  // Cuts the bubble out of the picture, and puts a line and a shadow around it.
  const COLORREF line = GetSysColor(IsHighContrast() ? COLOR_WINDOWTEXT : COLOR_3DSHADOW);
  auto* pixel = static_cast<uint32_t*>(memory);
  for (int y = 0; y < size_.cy; y++) {
    for (int x = 0; x < size_.cx; x++, pixel++) {
      const double px = x + 0.5 - margin;
      const double py = y + 0.5 - margin;
      const double distance = std::min(DistanceToBox(px, py, width, height, kRadius * scale),
                                       DistanceToTail(px, py, middle, height - 1, tail));
      const double inside = std::clamp(0.5 - distance, 0.0, 1.0);
      const double edge = std::clamp(0.5 - (std::abs(distance + 0.5) - 0.5), 0.0, 1.0);
      const double fade = std::clamp(1 - distance / margin, 0.0, 1.0);
      const double shadow = kShadowAlpha / 255 * fade * fade * (1 - inside);
      const double alpha = inside + shadow;
      const auto part = [&](int shift, int of_line) {
        const double colour = *pixel >> shift & 255;
        const double lined = colour + (of_line - colour) * edge;
        return static_cast<uint32_t>(std::lround(lined * inside)) << shift;
      };
      *pixel = static_cast<uint32_t>(std::lround(alpha * 255)) << 24 | part(16, GetRValue(line)) |
               part(8, GetGValue(line)) | part(0, GetBValue(line));
    }
  }
  POINT from{};
  BLENDFUNCTION blend{AC_SRC_OVER, 0, 255, AC_SRC_ALPHA};
  UpdateLayeredWindow(window_, nullptr, nullptr, &size_, canvas.get(), &from, 0, &blend, ULW_ALPHA);
  SelectObject(canvas.get(), old_bitmap);
  SelectObject(canvas.get(), old_font);
}

}  // namespace sprites
