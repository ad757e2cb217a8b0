#include "win32/windows/bubble.h"

#include <windowsx.h>

#include <cmath>
#include <utility>

#include "win32/system/text16.h"
#include "win32/windows/bubble_picture.h"

namespace sprites {

namespace {

constexpr wchar_t kClass[] = L"SpritesBubble";
// Sizes in dip.
constexpr double kTailHeight = 7;  // less than the gap that the tail is in
constexpr double kWidthMax = 400;

int Rounded(double value) { return static_cast<int>(std::lround(value)); }

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

void Bubble::Show(const DrawnBubble& bubble) {
  const double scale = bubble.post.scale;
  const bool is_new = bubble.text != text_;
  const bool is_measured = !is_new && scale == scale_;
  const BubbleWords words{L"", Wide(bubble.text)};
  if (!is_measured) {
    text_ = bubble.text;
    scale_ = scale;
    box_ = MeasureBubble(words, Rounded(kWidthMax * scale), scale);
  }
  const PlacedBubble placed{bubble.post,
                            {static_cast<double>(box_.cx), static_cast<double>(box_.cy)}};
  const BubblePlace place = *PlaceBubbles({&placed, 1}, {}).front();
  if (!is_measured || place.tail != tail_ || Rounded(place.tail_at) != tail_at_) {
    tail_ = place.tail;
    tail_at_ = Rounded(place.tail_at);
    std::optional<BubbleTail> tail;
    if (tail_) {
      tail = BubbleTail{*tail_, place.tail_at, kTailHeight * scale};
    }
    PaintBubble(window_, words, box_, tail, scale);
  }
  const int margin = BubbleMargin(scale);
  const POINT corner{Rounded(place.box.left) - margin, Rounded(place.box.top) - margin};
  if (is_new || corner.x != place_.x || corner.y != place_.y) {
    place_ = corner;
    SetWindowPos(window_, HWND_TOPMOST, corner.x, corner.y, 0, 0, SWP_NOSIZE | SWP_NOACTIVATE);
  }
  if (is_new) {
    SetWindowTextW(window_, words.text.c_str());
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
