// When the next frame is due: in step with the screen's own refresh where Windows tells it.
//
// A timer and not DwmFlush: that one would hold up the pointer's messages, and it returns at once
// where nothing composes. Cost: one timer, set once a frame.
#ifndef CLIENT_WIN_WIN32_PACER_H_
#define CLIENT_WIN_WIN32_PACER_H_

#include <windows.h>

#include <cstdint>

#include "win32/owned.h"

namespace sprites {

class Pacer {
 public:
  Pacer();

  // Signalled when the next frame is due.
  HANDLE timer() const { return timer_.get(); }
  // The next frame is due at the screen's next refresh that is at least `ms` away.
  void WaitFor(double ms);

 private:
  OwnedHandle timer_;
  int64_t ticks_per_second_ = 1;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_PACER_H_
