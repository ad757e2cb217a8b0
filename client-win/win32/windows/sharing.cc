#include "win32/windows/sharing.h"

namespace sprites {

namespace {

bool LeaveOutWindow(HWND window, bool is_left_out) {
  return SetWindowDisplayAffinity(window, is_left_out ? WDA_EXCLUDEFROMCAPTURE : WDA_NONE) != FALSE;
}

// Whether Windows leaves out windows: the program may have none yet to learn that from.
bool IsPossible() {
  const HWND window = CreateWindowExW(WS_EX_LAYERED, L"STATIC", L"", WS_POPUP, 0, 0, 1, 1, nullptr,
                                      nullptr, nullptr, nullptr);
  const bool is_possible = LeaveOutWindow(window, true);
  DestroyWindow(window);
  return is_possible;
}

BOOL CALLBACK LeaveOutLayered(HWND window, LPARAM is_left_out) {
  if ((GetWindowLongPtrW(window, GWL_EXSTYLE) & WS_EX_LAYERED) != 0) {
    LeaveOutWindow(window, is_left_out != 0);
  }
  return TRUE;
}

}  // namespace

bool Sharing::LeaveOut(bool is_left_out) {
  if (is_left_out == is_left_out_) {
    return true;
  }
  is_left_out_ = is_left_out && IsPossible();
  EnumThreadWindows(GetCurrentThreadId(), LeaveOutLayered, is_left_out_ ? TRUE : FALSE);
  return is_left_out == is_left_out_;
}

void Sharing::Add(HWND window) const {
  if (is_left_out_) {
    LeaveOutWindow(window, true);
  }
}

}  // namespace sprites
