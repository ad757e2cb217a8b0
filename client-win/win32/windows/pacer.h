// A timer for the next frame, in step with the screen's refresh if Windows reports it.
//
// core/scene/frame_clock.h decides when a frame is due; this class asks Windows for the time and
// the refreshes, and sets a timer. Not DwmFlush: it would block the messages of the pointer, and it
// returns at once if no compositor runs. Cost: one timer, set once per frame.
#ifndef CLIENT_WIN_WIN32_WINDOWS_PACER_H_
#define CLIENT_WIN_WIN32_WINDOWS_PACER_H_

#include <windows.h>

#include <cstdint>

#include "core/scene/frame_clock.h"
#include "win32/system/owned.h"

namespace sprites {

class Pacer {
 public:
  Pacer();

  // A handle to wait for: signalled when the next frame is due.
  HANDLE timer() const { return timer_.get(); }
  // Call when a turn begins and when it has ended. Nothing moves for `idle_ms` after it.
  void BeginTurn();
  void EndTurn(double idle_ms);
  // The person has done something: the next turn comes as soon as the frame rate allows.
  void HandleInput();
  // Halves the frame rate, to save power.
  void SetHalved(bool is_halved) { clock_.SetHalved(is_halved); }

 private:
  double NowMs() const;
  Refresh RefreshNow() const;
  void SetTimer(double due_ms);

  OwnedHandle timer_;
  FrameClock clock_;
  double ticks_per_ms_ = 1;  // of the performance counter
  double set_ms_ = -1;       // when the timer fires
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_WINDOWS_PACER_H_
