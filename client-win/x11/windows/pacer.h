// A timer for the next frame, in step with the rate of the screen.
//
// core/scene/frame_clock.h decides when a frame is due. X has no word for when a refresh happens,
// only how often, so frames keep the rate and any phase; the compositor shows each at its next
// refresh. Cost: one timer, set once per frame.
#ifndef CLIENT_WIN_X11_WINDOWS_PACER_H_
#define CLIENT_WIN_X11_WINDOWS_PACER_H_

#include "core/scene/frame_clock.h"
#include "posix/owned_fd.h"

namespace sprites {

class Pacer {
 public:
  Pacer();

  // Readable when the next frame is due; stays so until BeginTurn.
  int fd() const { return timer_.get(); }
  // As in FrameClock.
  void BeginTurn();
  void EndTurn(double idle_ms);
  void HandleInput();
  void SetHalved(bool is_halved) { clock_.SetHalved(is_halved); }

 private:
  void SetTimer(double due_ms);

  OwnedFd timer_;
  FrameClock clock_;
  Refresh refresh_;
  double set_ms_ = -1;  // when the timer fires
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_PACER_H_
