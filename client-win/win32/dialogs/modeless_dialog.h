// A dialog that stays open while the program goes on. It has no message loop: the shell passes it
// the messages.
//
// Owner: the shell. Threads: that of the shell.
#ifndef CLIENT_WIN_WIN32_DIALOGS_MODELESS_DIALOG_H_
#define CLIENT_WIN_WIN32_DIALOGS_MODELESS_DIALOG_H_

#include <windows.h>

#include "win32/system/dialog_look.h"
#include "win32/windows/foreground.h"

namespace sprites {

class ModelessDialog {
 public:
  ModelessDialog(const ModelessDialog&) = delete;
  ModelessDialog& operator=(const ModelessDialog&) = delete;

  // Opens it, or brings it to the front.
  void Open(HWND owner);
  void Close();
  // Whether a window is this one, or in it, or the list that has dropped down from a box in it.
  bool Has(HWND window) const;
  // Handles a message to a window that it has, and the keys that move between its controls.
  void HandleMessage(MSG* message) const;

 protected:
  // `dialog` is its resource, and `first` the control that has the focus when it opens.
  ModelessDialog(int dialog, int first, Foreground* foreground)
      : dialog_(dialog), first_(first), foreground_(foreground) {}
  ~ModelessDialog() { Close(); }

  HWND window() const { return window_; }  // null while it is closed

 private:
  static INT_PTR CALLBACK OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam);
  // Fills the dialog, which has just been created.
  virtual void SetUp() = 0;
  // Returns false if DialogLook is to handle the message.
  virtual bool Handle(UINT message, WPARAM wparam, LPARAM lparam) = 0;

  int dialog_;
  int first_;
  Foreground* foreground_;
  HWND window_ = nullptr;
  DialogLook look_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_DIALOGS_MODELESS_DIALOG_H_
