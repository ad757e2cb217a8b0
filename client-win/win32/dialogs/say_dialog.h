// The window in which the user types what to say.
//
// It stays open while the user talks: Enter says the line, which is cleared once the relay has
// accepted it; Escape, or Enter on an empty line, closes the window. Sprites and menus work
// meanwhile. Invariant: at most one line is on its way, and the field keeps a line that was
// refused. Threads: that of the shell.
#ifndef CLIENT_WIN_WIN32_DIALOGS_SAY_DIALOG_H_
#define CLIENT_WIN_WIN32_DIALOGS_SAY_DIALOG_H_

#include <windows.h>

#include "core/desktop/desktop.h"
#include "win32/dialogs/modeless_dialog.h"
#include "win32/system/resource.h"

namespace sprites {

class SayDialog : public ModelessDialog {
 public:
  SayDialog(Desktop* desktop, Foreground* foreground)
      : ModelessDialog(IDD_SAY, IDC_SAY, foreground), desktop_(desktop) {}

  // Shows what has become of the line since.
  void Update();

 private:
  static LRESULT CALLBACK OnFieldMessage(HWND field, UINT message, WPARAM wparam, LPARAM lparam,
                                         UINT_PTR id, DWORD_PTR data);
  void SetUp() override;
  bool Handle(UINT message, WPARAM wparam, LPARAM lparam) override;
  void Send();
  void ShowCount() const;
  void ShowNote() const;

  Desktop* desktop_;
  Speech shown_;  // what it shows
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_DIALOGS_SAY_DIALOG_H_
