// A timer for the next frame, in step with the screen's refresh if Windows reports it.
//
// Not DwmFlush: it would block the messages of the pointer, and it returns at once if no compositor
// runs. Cost: one timer, set once per frame.
#ifndef CLIENT_WIN_WIN32_PACER_H_
#define CLIENT_WIN_WIN32_PACER_H_

#include <windows.h>

#include <cstdint>

#include "win32/owned.h"

namespace sprites {

class Pacer {
 public:
  Pacer();

  // A handle to wait for: signalled when the next frame is due.
  HANDLE timer() const { return timer_.get(); }
  // Sets the timer to the first refresh of the screen that is at least `ms` away. Does not wait.
  void Schedule(double ms);

 private:
  OwnedHandle timer_;
  int64_t ticks_per_second_ = 1;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_PACER_H_
