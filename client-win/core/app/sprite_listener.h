// What a person does with the sprites, as a shell's windows report it.
//
// Points are px of the virtual screen. `ms` is the time of the event, by the clock of the system's
// events. Threads: all calls are on the desktop's thread.
#ifndef CLIENT_WIN_CORE_APP_SPRITE_LISTENER_H_
#define CLIENT_WIN_CORE_APP_SPRITE_LISTENER_H_

#include <filesystem>
#include <vector>

#include "core/desktop/crowd.h"
#include "core/motion/sprite.h"
#include "core/screen/geometry.h"

namespace sprites {

class SpriteListener {
 public:
  virtual ~SpriteListener() = default;
  virtual void Grabbed(SpriteId id, Point point, double ms) = 0;
  virtual void Dragged(Point point, double ms) = 0;
  virtual void Released(double ms) = 0;
  virtual void Clicked(SpriteId id) = 0;  // after it was released where it was grabbed
  virtual void DoubleClicked() = 0;
  virtual void RightClicked(SpriteId id, Point point) = 0;
  virtual void Pressed(Key key, bool is_down, bool with_control) = 0;
  virtual void Stepped(bool is_backwards) = 0;  // Tab: the next sprite gets the keys
  virtual void KeysLost() = 0;
  // Empty when what was dropped is not a file.
  virtual void Dropped(std::vector<std::filesystem::path> paths) = 0;
  virtual void MonitorsChanged() = 0;  // a monitor has another scale, or a window another monitor
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_APP_SPRITE_LISTENER_H_
