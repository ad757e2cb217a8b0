// Draws what a desktop has shown as a picture of its own: sprites and bubbles, and nothing of what
// other programs show around them.
//
// It has the size of what is drawn, with a margin. Cost: O(pixels), for an animation of each moment
// twice: to choose its colours, and to write it. Threads: any, also one that the desktop is not on.
#ifndef CLIENT_WIN_CORE_SCENE_PHOTOGRAPH_H_
#define CLIENT_WIN_CORE_SCENE_PHOTOGRAPH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/scene/film.h"
#include "core/scene/scene.h"

namespace sprites {

constexpr int kPhotographMargin = 24;                 // px around what is drawn
constexpr int64_t kPhotographPixelsMax = 33'554'432;  // four screens of 4K; 128 MiB, three times
constexpr int kAnimationSideMax = 1'280;              // px: as on the page, as a chat shows it
// Bytes: as on the page, chats take as much. Of a larger animation, every second moment is left
// out.
constexpr size_t kAnimationBytesMax = 8'388'608;

// A speech bubble as the shell draws it.
struct PaintedBubble {
  int x = 0;  // px of the virtual screen: its left top corner
  int y = 0;
  int width = 0;
  int height = 0;
  std::vector<uint32_t> pixels{};  // premultiplied alpha, top row first
};

// The part of the screen that a photograph shows. Throws Refused when nothing is seen, or it is
// larger than kPhotographPixelsMax.
Crop PhotographedPart(std::span<const DrawnSprite> drawn, std::span<const PaintedBubble> bubbles);

// A PNG of that part on a transparent ground: the sprites, lowest first, and the bubbles over them.
// Throws Refused, as above.
Bytes TakePhotograph(std::span<const DrawnSprite> drawn, std::span<const PaintedBubble> bubbles);

// A GIF of the last kFilmMs before `end_ms`, on a plain ground, with `label` below it. Throws
// Refused when nothing is seen.
Bytes MakeAnimation(std::span<const Moment> moments, int64_t end_ms, const PaintedBubble& label);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCENE_PHOTOGRAPH_H_
