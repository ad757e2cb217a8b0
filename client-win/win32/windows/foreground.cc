#include "win32/windows/foreground.h"

namespace sprites {

namespace {

bool IsOwnWindow(HWND window) {
  DWORD process = 0;
  GetWindowThreadProcessId(window, &process);
  return process == GetCurrentProcessId();
}

// Whether the person may type there: not the invisible main window, nor a sprite that nobody steers
// (SpriteWindows).
bool TakesKeys(HWND window) {
  return IsWindowVisible(window) &&
         (!IsOwnWindow(window) || (GetWindowLongPtrW(window, GWL_EXSTYLE) & WS_EX_NOACTIVATE) == 0);
}

}  // namespace

void Foreground::Remember() {
  const HWND now = GetForegroundWindow();
  if (now != nullptr && TakesKeys(now)) {
    last_ = now;
    other_ = IsOwnWindow(now) ? other_ : now;
  }
}

void Foreground::GiveBack() const {
  const HWND now = GetForegroundWindow();
  if (now != nullptr && TakesKeys(now)) {
    return;
  }
  for (const HWND window : {last_, other_}) {
    if (window != nullptr && TakesKeys(window)) {
      SetForegroundWindow(window);
      return;
    }
  }
}

}  // namespace sprites
