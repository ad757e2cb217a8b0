// Windows of other programs: lists them and moves them back to where they were.
//
// Our own windows, the desktop and the task bar are left out. Positions are px of the virtual
// screen; this program is aware of the scale of each monitor. No call waits for another program:
// requests to one that hangs are posted. Cost: a few calls per window, 0.1 to 0.5 ms for 40
// windows.
#ifndef CLIENT_WIN_WIN32_SYSTEM_OTHER_WINDOWS_H_
#define CLIENT_WIN_WIN32_SYSTEM_OTHER_WINDOWS_H_

#include <windows.h>

#include <vector>

#include "core/screen/window_places.h"

namespace sprites {

// Whether the window is visible or minimised, and belongs to another program.
bool IsOfAnotherProgram(HWND window);

// All windows that their user can move, front to back.
std::vector<OpenWindow> OtherWindowsNow();

// Moves the windows one by one. The window with the keyboard focus keeps it.
void PutBackNow(const std::vector<PutBack>& windows);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_OTHER_WINDOWS_H_
