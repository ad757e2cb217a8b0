// Whether screenshots, recordings and shared screens show the sprites and their bubbles.
//
// Threads: that of the shell.
#ifndef CLIENT_WIN_WIN32_WINDOWS_SHARING_H_
#define CLIENT_WIN_WIN32_WINDOWS_SHARING_H_

#include <windows.h>

namespace sprites {

class Sharing {
 public:
  // Leaves out every layered window of the program, those to come too, or shows them again. Returns
  // false if Windows refuses that: before version 2004 of Windows 10 it can't. Then nothing is left
  // out.
  bool LeaveOut(bool is_left_out);
  // Call with each new layered window.
  void Add(HWND window) const;

 private:
  bool is_left_out_ = false;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_WINDOWS_SHARING_H_
