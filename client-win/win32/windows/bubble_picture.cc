#include "win32/windows/bubble_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/text/text.h"
#include "win32/system/dialog_look.h"
#include "win32/system/owned.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

// Sizes in dip.
constexpr double kPaddingX = 12;
constexpr double kPaddingY = 9;
constexpr double kRadius = 8;
constexpr double kShadow = 10;  // more than the height of any tail
constexpr double kNameGap = 1;  // below the name
constexpr int kTextSize = 15;   // 9 points at 96 dpi need 12; a bubble is read from further away
constexpr int kNameSize = 13;
constexpr double kShadowAlpha = 56;
constexpr COLORREF kNameColour = RGB(0, 84, 180);  // on white: a contrast of 7 to 1

int Px(double dip, double scale) { return static_cast<int>(std::lround(dip * scale)); }

OwnedFont NewFont(int size, int weight, double scale) {
  NONCLIENTMETRICSW metrics{};
  metrics.cbSize = sizeof metrics;
  SystemParametersInfoW(SPI_GETNONCLIENTMETRICS, sizeof metrics, &metrics, 0);
  metrics.lfMessageFont.lfHeight = -Px(size, scale);
  metrics.lfMessageFont.lfWeight = weight;
  metrics.lfMessageFont.lfQuality = ANTIALIASED_QUALITY;  // ClearType needs to know what is below
  return OwnedFont(CreateFontIndirectW(&metrics.lfMessageFont));
}

// Selects an object into a canvas. Its destructor selects the previous one again.
class Selected {
 public:
  Selected(HDC canvas, HGDIOBJ object) : canvas_(canvas), before_(SelectObject(canvas, object)) {}
  ~Selected() { SelectObject(canvas_, before_); }
  Selected(const Selected&) = delete;
  Selected& operator=(const Selected&) = delete;

 private:
  HDC canvas_;
  HGDIOBJ before_;
};

UINT FlagsOf(const std::wstring& text) {
  constexpr UINT kFlags = DT_NOPREFIX | DT_WORDBREAK | DT_EDITCONTROL;
  return ReadsRightToLeft(Narrow(text)) ? kFlags | DT_RTLREADING | DT_RIGHT : kFlags;
}

// The size of a text in lines of at most `width` px.
SIZE SizeOf(HDC canvas, const std::wstring& text, int width) {
  RECT rect{0, 0, width, 0};
  DrawTextW(canvas, text.c_str(), -1, &rect, FlagsOf(text) | DT_CALCRECT);
  return {rect.right - rect.left, rect.bottom};
}

// The fonts of a bubble.
struct Letters {
  OwnedFont name;
  OwnedFont text;

  explicit Letters(double scale)
      : name(NewFont(kNameSize, FW_BOLD, scale)), text(NewFont(kTextSize, FW_NORMAL, scale)) {}
};

int NameHeight(HDC canvas, const Letters& letters, const BubbleWords& words, int width,
               double scale) {
  if (words.name.empty()) {
    return 0;
  }
  const Selected font(canvas, letters.name.get());
  return static_cast<int>(SizeOf(canvas, words.name, width).cy) + Px(kNameGap, scale);
}

void DrawWords(HDC canvas, const BubbleWords& words, RECT place, double scale) {
  const Letters letters(scale);
  const int width = place.right - place.left;
  SetBkMode(canvas, TRANSPARENT);
  if (!words.name.empty()) {
    const Selected font(canvas, letters.name.get());
    SetTextColor(canvas, IsHighContrast() ? GetSysColor(COLOR_WINDOWTEXT) : kNameColour);
    DrawTextW(canvas, words.name.c_str(), -1, &place, FlagsOf(words.name));
  }
  place.top += NameHeight(canvas, letters, words, width, scale);
  const Selected font(canvas, letters.text.get());
  SetTextColor(canvas, GetSysColor(COLOR_WINDOWTEXT));
  DrawTextW(canvas, words.text.c_str(), -1, &place, FlagsOf(words.text));
  GdiFlush();
}

// Draws the picture, and calls `show` with its canvas, size and pixels. Does nothing if memory is
// short.
template <typename Show>
void DrawBubble(const BubbleWords& words, SIZE box, const std::optional<BubbleTail>& tail,
                double scale, Show show) {
  const int margin = BubbleMargin(scale);
  SIZE size{box.cx + 2 * margin, box.cy + 2 * margin};
  const BITMAPINFO about = BitmapFormat(size.cx, size.cy);
  const OwnedDc canvas(CreateCompatibleDC(nullptr));
  void* memory = nullptr;
  const OwnedBitmap bitmap(
      CreateDIBSection(canvas.get(), &about, DIB_RGB_COLORS, &memory, nullptr, 0));
  if (bitmap == nullptr) {
    return;
  }
  const Selected picture(canvas.get(), bitmap.get());
  const RECT all{0, 0, size.cx, size.cy};
  FillRect(canvas.get(), &all, GetSysColorBrush(COLOR_WINDOW));
  const int x = margin + Px(kPaddingX, scale);
  const int y = margin + Px(kPaddingY, scale);
  DrawWords(canvas.get(), words, {x, y, size.cx - x, size.cy - y}, scale);

  // Cuts the bubble out of the picture, and puts a line and a shadow around it.
  const COLORREF line = GetSysColor(IsHighContrast() ? COLOR_WINDOWTEXT : COLOR_3DSHADOW);
  const Rect shape{0, 0, static_cast<double>(box.cx), static_cast<double>(box.cy)};
  auto* pixel = static_cast<uint32_t*>(memory);
  for (int row = 0; row < size.cy; row++) {
    for (int column = 0; column < size.cx; column++, pixel++) {
      const double px = column + 0.5 - margin;
      const double py = row + 0.5 - margin;
      const double distance = DistanceToBubble({px, py}, shape, kRadius * scale, tail);
      const double inside = std::clamp(0.5 - distance, 0.0, 1.0);
      const double edge = std::clamp(0.5 - (std::abs(distance + 0.5) - 0.5), 0.0, 1.0);
      const double fade = std::clamp(1 - distance / margin, 0.0, 1.0);
      const double shadow = kShadowAlpha / 255 * fade * fade * (1 - inside);
      const auto part = [&](int shift, int of_line) {
        const double colour = *pixel >> shift & 255;
        const double lined = colour + (of_line - colour) * edge;
        return static_cast<uint32_t>(std::lround(lined * inside)) << shift;
      };
      *pixel = static_cast<uint32_t>(std::lround((inside + shadow) * 255)) << 24 |
               part(16, GetRValue(line)) | part(8, GetGValue(line)) | part(0, GetBValue(line));
    }
  }
  show(canvas.get(), size, static_cast<const uint32_t*>(memory));
}

}  // namespace

SIZE MeasureBubble(const BubbleWords& words, int width_max, double scale) {
  const OwnedDc canvas(CreateCompatibleDC(nullptr));
  const Letters letters(scale);
  const int room = std::max(1, width_max - 2 * Px(kPaddingX, scale));
  SIZE size{};
  if (!words.name.empty()) {
    const Selected font(canvas.get(), letters.name.get());
    size.cx = SizeOf(canvas.get(), words.name, room).cx;
  }
  const Selected font(canvas.get(), letters.text.get());
  const SIZE text = SizeOf(canvas.get(), words.text, room);
  size.cx = std::min<LONG>(room, std::max(size.cx, text.cx));
  size.cy = NameHeight(canvas.get(), letters, words, size.cx, scale) + text.cy;
  return {size.cx + 2 * Px(kPaddingX, scale), size.cy + 2 * Px(kPaddingY, scale)};
}

int BubbleMargin(double scale) { return Px(kShadow, scale); }

std::vector<uint32_t> BubblePixels(const BubbleWords& words, SIZE box,
                                   const std::optional<BubbleTail>& tail, double scale) {
  std::vector<uint32_t> copy;
  DrawBubble(words, box, tail, scale, [&](HDC, SIZE size, const uint32_t* pixels) {
    copy.assign(pixels, pixels + size_t(size.cx) * size_t(size.cy));
  });
  return copy;
}

void PaintBubble(HWND window, const BubbleWords& words, SIZE box,
                 const std::optional<BubbleTail>& tail, double scale) {
  DrawBubble(words, box, tail, scale, [window](HDC canvas, SIZE size, const uint32_t*) {
    POINT from{};
    BLENDFUNCTION blend{AC_SRC_OVER, 0, 255, AC_SRC_ALPHA};
    UpdateLayeredWindow(window, nullptr, nullptr, &size, canvas, &from, 0, &blend, ULW_ALPHA);
  });
}

}  // namespace sprites
