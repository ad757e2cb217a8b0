// The window in which the user types what to say.
//
// It stays open while the user talks: Enter says the line, which is cleared once the relay has
// accepted it; Escape, or Enter on an empty line, closes the window. It has no message loop, so
// sprites and menus work meanwhile. Invariant: at most one line is on its way, and the field keeps
// a line that was refused. Threads: that of the shell.
#ifndef CLIENT_WIN_WIN32_SAY_DIALOG_H_
#define CLIENT_WIN_WIN32_SAY_DIALOG_H_

#include <windows.h>

#include "core/desktop/desktop.h"
#include "win32/dialog_look.h"

namespace sprites {

class SayDialog {
 public:
  explicit SayDialog(Desktop* desktop) : desktop_(desktop) {}
  ~SayDialog() { Close(); }
  SayDialog(const SayDialog&) = delete;
  SayDialog& operator=(const SayDialog&) = delete;

  // Opens it, or brings it to the front.
  void Open(HWND owner);
  void Close();
  // Shows what has become of the line since.
  void Update();
  // Handles the keys that move between its controls. Returns whether the message was for it.
  bool HandleMessage(MSG* message) const {
    return window_ != nullptr && IsDialogMessageW(window_, message) != 0;
  }

 private:
  static INT_PTR CALLBACK OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam);
  static LRESULT CALLBACK OnFieldMessage(HWND field, UINT message, WPARAM wparam, LPARAM lparam,
                                         UINT_PTR id, DWORD_PTR data);
  void Fill();
  void Send();
  void ShowCount() const;
  void ShowNote() const;

  Desktop* desktop_;
  HWND window_ = nullptr;  // while it is open
  DialogLook look_;
  Speech shown_;  // what it shows
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SAY_DIALOG_H_
