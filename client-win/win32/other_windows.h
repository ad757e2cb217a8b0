// Windows of other programs: which there are, where they belong, and putting them back there.
//
// Never our own, never the desktop's or the task bar's. Positions are px of the virtual screen:
// this program minds each monitor's own scale. Nothing here waits for another program: one that
// hangs is asked and left behind. Cost: some calls a window, 0.1 to 0.5 ms with 40 of them.
#ifndef CLIENT_WIN_WIN32_OTHER_WINDOWS_H_
#define CLIENT_WIN_WIN32_OTHER_WINDOWS_H_

#include <windows.h>

#include <vector>

#include "core/screen/window_places.h"

namespace sprites {

// It is visible, or minimised, and none of ours.
bool IsOfAnotherProgram(HWND window);

// All that their users may have put where they are, front to back.
std::vector<OpenWindow> OtherWindowsNow();

// One by one, without taking the keyboard away from whoever has it.
void PutBackNow(const std::vector<PutBack>& windows);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_OTHER_WINDOWS_H_
