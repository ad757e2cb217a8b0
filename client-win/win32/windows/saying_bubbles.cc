#include "win32/windows/saying_bubbles.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "win32/system/text16.h"

namespace sprites {

namespace {

constexpr wchar_t kClass[] = L"SpritesSaying";
constexpr DWORD kExtendedStyle =
    WS_EX_LAYERED | WS_EX_TOPMOST | WS_EX_TOOLWINDOW | WS_EX_NOACTIVATE;
constexpr double kTailHeight = 7;  // dip: less than the gap that the tail is in

int Rounded(double value) { return static_cast<int>(std::lround(value)); }

SIZE BoxOf(const BubbleWords& words, const BubblePost& post, double width_max) {
  const double width = std::min(width_max * post.scale, post.room.Width());
  SIZE box = MeasureBubble(words, Rounded(width), post.scale);
  // The tail needs room between two round corners.
  box.cx = std::max<LONG>(box.cx, Rounded(2 * kTailInset * post.scale));
  return box;
}

PlacedBubble Sized(const BubblePost& post, SIZE box) {
  return {post, {static_cast<double>(box.cx), static_cast<double>(box.cy)}};
}

std::optional<BubbleTail> TailOf(const BubblePlace& place, double scale) {
  return place.tail ? std::optional(BubbleTail{*place.tail, place.tail_at, kTailHeight * scale})
                    : std::nullopt;
}

}  // namespace

SayingBubbles::SayingBubbles(const Sharing* sharing, std::function<void()> clicked,
                             double width_max)
    : sharing_(sharing), clicked_(std::move(clicked)), width_max_(width_max) {
  WNDCLASSW description{};
  description.lpfnWndProc = OnMessage;
  description.hCursor = LoadCursorW(nullptr, IDC_ARROW);
  description.hInstance = GetModuleHandleW(nullptr);
  description.lpszClassName = kClass;
  RegisterClassW(&description);
}

SayingBubbles::~SayingBubbles() { Show(Scene{}); }

LRESULT CALLBACK SayingBubbles::OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam) {
  auto* own = reinterpret_cast<SayingBubbles*>(GetWindowLongPtrW(window, GWLP_USERDATA));
  if (own != nullptr && own->clicked_ && message == WM_LBUTTONUP) {
    own->clicked_();
    return 0;
  }
  return message == WM_MOUSEACTIVATE ? MA_NOACTIVATE
                                     : DefWindowProcW(window, message, wparam, lparam);
}

void SayingBubbles::Show(const Scene& scene) {
  if (scene.bubbles.empty() && shown_.empty()) {
    return;
  }
  std::vector<Shown> before = std::exchange(shown_, {});
  std::vector<PlacedBubble> bubbles;
  for (const DrawnBubble& drawn : scene.bubbles) {
    const auto same = std::ranges::find(before, drawn.id, &Shown::id);
    shown_.push_back(same != before.end() ? std::exchange(*same, Shown{}) : Make(drawn));
    Shown& shown = shown_.back();
    if (shown.scale != drawn.post.scale) {
      shown.scale = drawn.post.scale;
      shown.is_painted = false;
      shown.box = BoxOf(shown.words, drawn.post, width_max_);
    }
    bubbles.push_back(Sized(drawn.post, shown.box));
  }
  for (Shown& shown : before) {
    End(&shown);
  }
  const auto places = PlaceBubbles(bubbles, scene.obstacles);
  for (size_t i = 0; i < places.size(); i++) {
    if (places[i]) {
      Place(*places[i], &shown_[i]);
    } else if (std::exchange(shown_[i].is_visible, false)) {
      ShowWindow(shown_[i].window, SW_HIDE);
    }
  }
}

std::vector<PaintedBubble> PaintBubbles(const Scene& scene) {
  std::vector<BubbleWords> words;
  std::vector<PlacedBubble> bubbles;
  for (const DrawnBubble& drawn : scene.bubbles) {
    words.push_back({Wide(drawn.name), Wide(drawn.text)});
    bubbles.push_back(Sized(drawn.post, BoxOf(words.back(), drawn.post, kBubbleWidthMax)));
  }
  const auto places = PlaceBubbles(bubbles, scene.obstacles);
  std::vector<PaintedBubble> painted;
  for (size_t i = 0; i < places.size(); i++) {
    if (!places[i]) {
      continue;
    }
    const auto& [post, box] = bubbles[i];
    const int margin = BubbleMargin(post.scale);
    const SIZE size{Rounded(box.width), Rounded(box.height)};
    auto pixels = BubblePixels(words[i], size, TailOf(*places[i], post.scale), post.scale);
    if (!pixels.empty()) {
      painted.push_back({Rounded(places[i]->box.left) - margin,
                         Rounded(places[i]->box.top) - margin,
                         static_cast<int>(size.cx) + 2 * margin,
                         static_cast<int>(size.cy) + 2 * margin, std::move(pixels)});
    }
  }
  return painted;
}

SayingBubbles::Shown SayingBubbles::Make(const DrawnBubble& drawn) {
  Shown shown;
  shown.id = drawn.id;
  shown.words = {Wide(drawn.name), Wide(drawn.text)};
  const std::wstring title =
      shown.words.name.empty() ? shown.words.text : shown.words.name + L": " + shown.words.text;
  const DWORD style = clicked_ ? kExtendedStyle : kExtendedStyle | WS_EX_TRANSPARENT;
  shown.window = CreateWindowExW(style, kClass, title.c_str(), WS_POPUP, 0, 0, 1, 1, nullptr,
                                 nullptr, GetModuleHandleW(nullptr), nullptr);
  SetWindowLongPtrW(shown.window, GWLP_USERDATA, reinterpret_cast<LONG_PTR>(this));
  sharing_->Add(shown.window);
  live_regions_.Mark(shown.window);
  return shown;
}

void SayingBubbles::End(Shown* shown) {
  if (shown->window != nullptr) {
    live_regions_.Unmark(shown->window);
    DestroyWindow(shown->window);
  }
}

void SayingBubbles::Place(const BubblePlace& place, Shown* shown) {
  const bool is_same_picture = shown->is_painted && place.tail == shown->place.tail &&
                               Rounded(place.tail_at) == Rounded(shown->place.tail_at);
  if (!is_same_picture) {
    PaintBubble(shown->window, shown->words, shown->box, TailOf(place, shown->scale), shown->scale);
    shown->is_painted = true;
  }
  const bool is_moved = Rounded(place.box.left) != Rounded(shown->place.box.left) ||
                        Rounded(place.box.top) != Rounded(shown->place.box.top);
  shown->place = place;
  const bool appears = !std::exchange(shown->is_visible, true);
  if (is_moved || appears) {
    const int margin = BubbleMargin(shown->scale);
    const UINT flags = SWP_NOSIZE | SWP_NOACTIVATE | (appears ? SWP_SHOWWINDOW : SWP_NOZORDER);
    SetWindowPos(shown->window, HWND_TOPMOST, Rounded(place.box.left) - margin,
                 Rounded(place.box.top) - margin, 0, 0, flags);
  }
  if (appears) {
    live_regions_.Announce(shown->window);
  }
}

}  // namespace sprites
