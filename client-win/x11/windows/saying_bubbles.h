// What is said, in bubbles beside the sprites or at the edges of the desktop.
//
// Clicks go through them, and they never take the keyboard. Cost: a picture when a bubble comes or
// its tail moves, one request when it only moves.
#ifndef CLIENT_WIN_X11_WINDOWS_SAYING_BUBBLES_H_
#define CLIENT_WIN_X11_WINDOWS_SAYING_BUBBLES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/scene/scene.h"
#include "x11/system/x_connection.h"
#include "x11/windows/look.h"
#include "x11/windows/panel.h"

namespace sprites {

class SayingBubbles {
 public:
  SayingBubbles(const XConnection* connection, const Look* look);

  // Shows the bubbles of a scene that have a place, and no others.
  void Show(const Scene& scene);
  // Puts them above windows that were raised since.
  void Raise() const;

 private:
  struct Shown {
    uint64_t id = 0;
    std::unique_ptr<Panel> panel;
    std::vector<std::string> names;  // lines
    std::vector<std::string> lines;
    BubbleSize size;
    double scale = 0;  // of the look that it was measured with
    bool is_composited = false;
    BubblePlace place;  // of the picture
    bool is_painted = false;
  };

  std::unique_ptr<Shown> FindOrMake(const DrawnBubble& drawn);
  void Measure(const DrawnBubble& drawn, Shown* shown) const;
  void Place(const BubblePlace& place, Shown* shown) const;
  void Paint(Shown* shown) const;
  FontSize NameSize() const;

  const XConnection* connection_;
  const Look* look_;
  std::vector<std::unique_ptr<Shown>> shown_;  // newest first
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_SAYING_BUBBLES_H_
