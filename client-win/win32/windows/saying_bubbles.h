// What is said, in bubbles beside the sprites or at the edges of the desktop: layered windows that
// never take the focus.
//
// The text of each window is who said what, and a screen reader reads it when the bubble comes.
// Cost: a picture when a bubble comes or its tail moves, one system call when it only moves.
#ifndef CLIENT_WIN_WIN32_WINDOWS_SAYING_BUBBLES_H_
#define CLIENT_WIN_WIN32_WINDOWS_SAYING_BUBBLES_H_

#include <windows.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/scene/photograph.h"
#include "core/scene/scene.h"
#include "win32/windows/bubble_picture.h"
#include "win32/windows/live_region.h"
#include "win32/windows/sharing.h"

namespace sprites {

class SayingBubbles {
 public:
  // `clicked` is called at a click on a bubble; without it, clicks go through. `width_max`: dip,
  // with padding.
  explicit SayingBubbles(const Sharing* sharing, std::function<void()> clicked = {},
                         double width_max = kBubbleWidthMax);
  ~SayingBubbles();
  SayingBubbles(const SayingBubbles&) = delete;
  SayingBubbles& operator=(const SayingBubbles&) = delete;

  // Shows the bubbles of a scene that have a place, and no others.
  void Show(const Scene& scene);

 private:
  struct Shown {
    uint64_t id = 0;
    HWND window = nullptr;
    BubbleWords words;
    SIZE box{};
    double scale = 0;  // that it was measured with
    BubblePlace place;
    bool is_painted = false;
    bool is_visible = false;
  };

  static LRESULT CALLBACK OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam);
  Shown Make(const DrawnBubble& drawn);
  void End(Shown* shown);
  void Place(const BubblePlace& place, Shown* shown);

  const Sharing* sharing_;
  std::function<void()> clicked_;
  double width_max_;
  LiveRegions live_regions_;
  std::vector<Shown> shown_;  // newest first
};

// The bubbles of a scene that have a place, as pictures without windows.
std::vector<PaintedBubble> PaintBubbles(const Scene& scene);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_WINDOWS_SAYING_BUBBLES_H_
