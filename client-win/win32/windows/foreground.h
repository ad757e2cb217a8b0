// The window to which the keyboard goes back when this program needs it no longer.
//
// Windows gives the keyboard to any window of a program when the one that had it closes, and then
// what the person types vanishes. Threads: that of the shell.
#ifndef CLIENT_WIN_WIN32_WINDOWS_FOREGROUND_H_
#define CLIENT_WIN_WIN32_WINDOWS_FOREGROUND_H_

#include <windows.h>

namespace sprites {

class Foreground {
 public:
  // Lives while windows of this program may take the keyboard from another one.
  class Scope {
   public:
    explicit Scope(Foreground* foreground) : foreground_(foreground) { foreground->Remember(); }
    ~Scope() { foreground_->GiveBack(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Foreground* foreground_;
  };

  // Call before a window of this program takes the keyboard.
  void Remember();
  // Gives the keyboard back, unless another program has it now, or a window of this program that
  // the person uses.
  void GiveBack() const;

 private:
  HWND last_ = nullptr;   // what had the keyboard
  HWND other_ = nullptr;  // likewise, of another program: `last_` may be a dialog that has closed
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_WINDOWS_FOREGROUND_H_
