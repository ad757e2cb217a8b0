// The sprites on X: a window for each, on a connection to the X server beside GTK's, because each
// of their frames is copied within the server.
#ifndef CLIENT_WIN_X11_WINDOWS_X_DISPLAY_H_
#define CLIENT_WIN_X11_WINDOWS_X_DISPLAY_H_

#include <xcb/xcb.h>

#include <vector>

#include "x11/system/surroundings.h"
#include "x11/system/x_connection.h"
#include "x11/windows/drop_target.h"
#include "x11/windows/sprite_display.h"
#include "x11/windows/sprite_windows.h"

namespace sprites {

class XDisplay : public SpriteDisplay {
 public:
  // REQUIRES: GTK uses X. Throws std::runtime_error when the X server lacks what is needed.
  explicit XDisplay(SpriteListener* listener);

  int fd() const override { return connection_.fd(); }
  bool IsLost() const override { return connection_.IsLost(); }
  void Flush() const override { connection_.Flush(); }
  bool HandleEvents() override;
  bool Update(Desktop* desktop, int64_t now_ms) override;
  double IdleMs(const Desktop& desktop, int64_t now_ms) const override {
    return surroundings_.IdleMs(desktop, now_ms);
  }
  const std::vector<Monitor>& monitors() const override { return surroundings_.monitors(); }
  bool is_composited() const override { return is_composited_; }
  const char* system() const override { return "X11"; }
  void Show(const Scene& scene) override;
  bool GiveKeysTo(SpriteId id) override { return windows_.GiveKeysTo(id); }
  void ForgetHold() override { windows_.ForgetHold(); }
  // Cost: a round trip.
  PointerNow Pointer() const override;
  MenuCorner CornerAt(Point point) override;

 private:
  bool HandleEvent(const xcb_generic_event_t& event);
  void SetComposited();

  XConnection connection_;
  bool is_composited_;
  SpriteWindows windows_;
  SpriteWindows ground_;  // shadows and dust
  SpriteWindows beyond_;  // what is seen beyond an edge
  Surroundings surroundings_;
  DropTarget drops_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_X_DISPLAY_H_
