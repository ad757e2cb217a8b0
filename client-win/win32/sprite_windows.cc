#include "win32/sprite_windows.h"

#include <shellapi.h>
#include <windowsx.h>

#include <algorithm>
#include <optional>

namespace sprites {

namespace {

constexpr wchar_t kClass[] = L"SpritesSprite";
constexpr DWORD kStyle = WS_POPUP;
// No button on the task bar, above other windows; layered: with an alpha channel.
constexpr DWORD kExtendedStyle =
    WS_EX_LAYERED | WS_EX_TOOLWINDOW | WS_EX_TOPMOST | WS_EX_ACCEPTFILES;
constexpr UINT kOnlyMove = SWP_NOSIZE | SWP_NOZORDER | SWP_NOACTIVATE | SWP_NOOWNERZORDER |
                           SWP_NOREDRAW | SWP_NOSENDCHANGING;
constexpr UINT kOnlyRaise = SWP_NOSIZE | SWP_NOMOVE | SWP_NOACTIVATE | SWP_NOSENDCHANGING;
constexpr UINT kFilesMax = 64;  // files of one drop

// Where the pointer was when the message being handled was sent: the window may have moved since.
Point MessagePoint() {
  const DWORD place = GetMessagePos();
  return {static_cast<double>(GET_X_LPARAM(place)), static_cast<double>(GET_Y_LPARAM(place))};
}

double MessageMs() { return static_cast<double>(static_cast<DWORD>(GetMessageTime())); }

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
    default:
      return std::nullopt;
  }
}

std::vector<std::wstring> PathsOf(HDROP drop) {
  std::vector<std::wstring> paths;
  const UINT count = std::min(DragQueryFileW(drop, 0xFFFFFFFF, nullptr, 0), kFilesMax);
  for (UINT i = 0; i < count; i++) {
    std::wstring path(DragQueryFileW(drop, i, nullptr, 0) + 1, 0);
    path.resize(DragQueryFileW(drop, i, path.data(), static_cast<UINT>(path.size())));
    paths.push_back(std::move(path));
  }
  DragFinish(drop);
  return paths;
}

bool IsSamePicture(const DrawnSprite& one, const DrawnSprite& other) {
  return one.sheet == other.sheet && one.cell == other.cell && one.width == other.width &&
         one.height == other.height && one.mirrored == other.mirrored;
}

}  // namespace

SpriteWindows::SpriteWindows(SpriteListener* listener)
    : listener_(listener), canvas_(CreateCompatibleDC(nullptr)) {
  WNDCLASSEXW description{};
  description.cbSize = sizeof description;
  description.style = CS_DBLCLKS;
  description.lpfnWndProc = OnMessage;
  description.cbWndExtra = sizeof(LONG_PTR);
  description.hInstance = GetModuleHandleW(nullptr);
  description.hCursor = LoadCursorW(nullptr, IDC_HAND);
  description.lpszClassName = kClass;
  RegisterClassExW(&description);
}

SpriteWindows::~SpriteWindows() {
  for (const auto& [id, shown] : windows_) {
    SetWindowLongPtrW(shown.window, GWLP_USERDATA, 0);
    DestroyWindow(shown.window);
  }
  UnregisterClassW(kClass, GetModuleHandleW(nullptr));
}

void SpriteWindows::Show(const Scene& scene) {
  frame_++;
  HDWP batch = nullptr;
  for (const DrawnSprite& drawn : scene.sprites) {
    Shown& shown = WindowFor(drawn.id);
    shown.seen = frame_;
    if (drawn.visible && !(shown.is_drawn && IsSamePicture(shown.drawn, drawn))) {
      Paint(&shown, drawn);
    } else if (drawn.visible && (shown.drawn.x != drawn.x || shown.drawn.y != drawn.y)) {
      if (batch == nullptr) {
        batch = BeginDeferWindowPos(static_cast<int>(scene.sprites.size()));
      }
      if (batch != nullptr) {
        batch = DeferWindowPos(batch, shown.window, nullptr, drawn.x, drawn.y, 0, 0, kOnlyMove);
      }
      shown.drawn.x = drawn.x;
      shown.drawn.y = drawn.y;
      cost_.moves++;
    }
    if (drawn.visible != shown.is_visible && (shown.is_drawn || !drawn.visible)) {
      ShowWindow(shown.window, drawn.visible ? SW_SHOWNA : SW_HIDE);
      shown.is_visible = drawn.visible;
      cost_.others++;
    }
  }
  if (batch != nullptr) {
    EndDeferWindowPos(batch);
    cost_.batches++;
  }
  EndUnseen();
  Restack(scene);
  bitmaps_.EndFrame();
}

SpriteWindows::Shown& SpriteWindows::WindowFor(SpriteId id) {
  Shown& shown = windows_[id];
  if (shown.window == nullptr) {
    shown.window = CreateWindowExW(kExtendedStyle, kClass, L"Sprite", kStyle, 0, 0, 1, 1, nullptr,
                                   nullptr, GetModuleHandleW(nullptr), nullptr);
    SetWindowLongPtrW(shown.window, 0, static_cast<LONG_PTR>(id));
    SetWindowLongPtrW(shown.window, GWLP_USERDATA, reinterpret_cast<LONG_PTR>(this));
    order_.push_back(id);  // a new window is on top
    cost_.others++;
  }
  return shown;
}

// The picture and the place in one call, so that they change together.
void SpriteWindows::Paint(Shown* shown, const DrawnSprite& drawn) {
  const HBITMAP bitmap = bitmaps_.Of(drawn);
  if (bitmap == nullptr) {
    return;
  }
  const HGDIOBJ before = SelectObject(canvas_.get(), bitmap);
  POINT place{drawn.x, drawn.y};
  SIZE size{drawn.width, drawn.height};
  POINT origin{0, 0};
  BLENDFUNCTION blend{AC_SRC_OVER, 0, 255, AC_SRC_ALPHA};
  UpdateLayeredWindow(shown->window, nullptr, &place, &size, canvas_.get(), &origin, 0, &blend,
                      ULW_ALPHA);
  SelectObject(canvas_.get(), before);
  shown->drawn = drawn;
  shown->is_drawn = true;
  cost_.pictures++;
}

void SpriteWindows::EndUnseen() {
  if (windows_.size() == order_.size() &&
      std::ranges::all_of(windows_, [&](const auto& one) { return one.second.seen == frame_; })) {
    return;
  }
  for (auto one = windows_.begin(); one != windows_.end();) {
    if (one->second.seen == frame_) {
      ++one;
      continue;
    }
    const HWND window = one->second.window;
    std::erase(order_, one->first);
    one = windows_.erase(one);
    DestroyWindow(window);
    cost_.others++;
  }
}

// Who is drawn last lies on top; usually that is so already.
void SpriteWindows::Restack(const Scene& scene) {
  const auto id_of = [](const DrawnSprite& drawn) { return drawn.id; };
  if (std::ranges::equal(scene.sprites, order_, {}, id_of)) {
    return;
  }
  // All from the first difference on go up, one after the other.
  const auto from = std::ranges::mismatch(scene.sprites, order_, {}, id_of).in1;
  for (auto drawn = from; drawn != scene.sprites.end(); ++drawn) {
    SetWindowPos(windows_[drawn->id].window, HWND_TOPMOST, 0, 0, 0, 0, kOnlyRaise);
    cost_.others++;
  }
  order_.clear();
  std::ranges::transform(scene.sprites, std::back_inserter(order_), id_of);
}

LRESULT CALLBACK SpriteWindows::OnMessage(HWND window, UINT message, WPARAM wide, LPARAM wider) {
  auto* own = reinterpret_cast<SpriteWindows*>(GetWindowLongPtrW(window, GWLP_USERDATA));
  if (own == nullptr) {
    return DefWindowProcW(window, message, wide, wider);
  }
  const auto id = static_cast<SpriteId>(GetWindowLongPtrW(window, 0));
  return own->Take(window, id, message, wide, wider);
}

LRESULT SpriteWindows::Take(HWND window, SpriteId id, UINT message, WPARAM wide, LPARAM wider) {
  switch (message) {
    case WM_LBUTTONDOWN:
      SetCapture(window);
      listener_->Grabbed(id, MessagePoint(), MessageMs());
      return 0;
    case WM_MOUSEMOVE:
      if (GetCapture() == window) {
        listener_->Dragged(MessagePoint(), MessageMs());
      }
      return 0;
    case WM_LBUTTONUP:
      ReleaseFrom(window);
      return 0;
    case WM_CANCELMODE:
      return 0;  // it comes with a late change of focus too, which must not strike a sprite out of
                 // a hand
    case WM_CAPTURECHANGED:
      listener_->Released(MessageMs());
      return 0;
    case WM_LBUTTONDBLCLK:
      listener_->DoubleClicked(id);
      return 0;
    case WM_RBUTTONUP:
      listener_->RightClicked(id, {GET_X_LPARAM(GetMessagePos()), GET_Y_LPARAM(GetMessagePos())});
      return 0;
    case WM_KEYDOWN:
    case WM_KEYUP:
      PressOn(wide, message == WM_KEYDOWN);
      return 0;
    case WM_KILLFOCUS:
      listener_->KeysLost();
      return 0;
    case WM_DROPFILES:
      listener_->Dropped(PathsOf(reinterpret_cast<HDROP>(wide)));
      return 0;
    case WM_CLOSE:
      return 0;  // one sprite is not a program: Alt+F4 on it ends nothing
    default:
      return DefWindowProcW(window, message, wide, wider);
  }
}

void SpriteWindows::PressOn(WPARAM key, bool is_down) {
  if (const auto known = KeyOf(key)) {
    listener_->Pressed(*known, is_down);
  }
}

void SpriteWindows::ReleaseFrom(HWND window) {
  if (GetCapture() == window) {
    listener_->Dragged(MessagePoint(), MessageMs());
  }
  ReleaseCapture();
  listener_->Released(MessageMs());
}

}  // namespace sprites
