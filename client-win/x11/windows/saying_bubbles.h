// What is said, in bubbles beside the sprites or at the edges of the desktop.
//
// They never take the keyboard. Cost: a picture when a bubble comes or its tail moves, one request
// when it only moves.
#ifndef CLIENT_WIN_X11_WINDOWS_SAYING_BUBBLES_H_
#define CLIENT_WIN_X11_WINDOWS_SAYING_BUBBLES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/scene/scene.h"
#include "x11/windows/bubble_window.h"
#include "x11/windows/look.h"

namespace sprites {

class SayingBubbles {
 public:
  // `clicked` is called at a click on a bubble; without it, clicks go through. `width_max`: dip,
  // with padding.
  explicit SayingBubbles(const Look* look, std::string title = "Sprites saying",
                         std::function<void()> clicked = {}, double width_max = kBubbleWidthMax)
      : look_(look),
        title_(std::move(title)),
        clicked_(std::move(clicked)),
        width_max_(width_max) {}

  // Shows the bubbles of a scene that have a place, and no others.
  void Show(const Scene& scene);
  // Likewise as pictures.
  std::vector<PaintedBubble> Paint(const Scene& scene);
  // Puts them above windows that were raised since.
  void Raise() const;

 private:
  struct Shown {
    uint64_t id = 0;
    std::unique_ptr<BubbleWindow> window;
    BubbleSize size;
    double scale = 0;  // of the look that it was measured with
  };

  Shown FindOrMake(const DrawnBubble& drawn);
  void Measure(const DrawnBubble& drawn, Shown* shown) const;
  std::vector<std::optional<BubblePlace>> Prepare(const Scene& scene);
  std::optional<BubbleTail> TailOf(const BubblePlace& place) const;

  const Look* look_;
  std::string title_;  // of the windows
  std::function<void()> clicked_;
  double width_max_;
  std::vector<Shown> shown_;  // newest first
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_SAYING_BUBBLES_H_
