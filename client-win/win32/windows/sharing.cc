#include "win32/windows/sharing.h"

namespace sprites {

namespace {

bool LeaveOutWindow(HWND window, bool is_left_out) {
  return SetWindowDisplayAffinity(window, is_left_out ? WDA_EXCLUDEFROMCAPTURE : WDA_NONE) != FALSE;
}

// Stops at the first window that Windows refuses it for.
BOOL CALLBACK LeaveOutLayered(HWND window, LPARAM is_left_out) {
  const bool is_layered = (GetWindowLongPtrW(window, GWL_EXSTYLE) & WS_EX_LAYERED) != 0;
  return !is_layered || LeaveOutWindow(window, is_left_out != 0) ? TRUE : FALSE;
}

}  // namespace

bool Sharing::LeaveOut(bool is_left_out) {
  if (is_left_out == is_left_out_) {
    return true;
  }
  is_left_out_ =
      is_left_out && EnumThreadWindows(GetCurrentThreadId(), LeaveOutLayered, TRUE) != FALSE;
  if (!is_left_out_) {
    EnumThreadWindows(GetCurrentThreadId(), LeaveOutLayered, FALSE);
  }
  return is_left_out == is_left_out_;
}

void Sharing::Add(HWND window) const {
  if (is_left_out_) {
    LeaveOutWindow(window, true);
  }
}

}  // namespace sprites
