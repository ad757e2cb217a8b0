// How a speech bubble is drawn: a box with round corners, a tail, a soft shadow, and the words.
//
// Colours and font are those of the system, so high contrast works. Words are wrapped at spaces,
// and between letters where a word is longer than a line. The name and the text are drawn apart, so
// that neither can reorder the other. Units: px. Cost: O(pixels) a picture.
#ifndef CLIENT_WIN_WIN32_WINDOWS_BUBBLE_PICTURE_H_
#define CLIENT_WIN_WIN32_WINDOWS_BUBBLE_PICTURE_H_

#include <windows.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/scene/bubble_shape.h"

namespace sprites {

struct BubbleWords {
  std::wstring name;  // above the text, small and bold; empty for none
  std::wstring text;

  bool operator==(const BubbleWords&) const = default;
};

// The size of the box for these words: at most `width_max` wide. `scale` is px a dip.
SIZE MeasureBubble(const BubbleWords& words, int width_max, double scale);

// How far the picture goes beyond the box at each side: the room for shadow and tail.
int BubbleMargin(double scale);

// The picture, with premultiplied alpha and the top row first: of the box and its margins. Empty if
// memory is short.
std::vector<uint32_t> BubblePixels(const BubbleWords& words, SIZE box,
                                   const std::optional<BubbleTail>& tail, double scale);

// Shows the picture in a layered window, whose size becomes that of the box and its margins.
void PaintBubble(HWND window, const BubbleWords& words, SIZE box,
                 const std::optional<BubbleTail>& tail, double scale);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_WINDOWS_BUBBLE_PICTURE_H_
