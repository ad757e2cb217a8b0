// How the dialogs look: a white page with a heading, and a grey footer with the buttons, as in the
// dialogs of Windows. Colours and fonts are those of the system, so high contrast works.
//
// Owner: the window procedure of the dialog. Threads: that of the dialog.
#ifndef CLIENT_WIN_WIN32_SYSTEM_DIALOG_LOOK_H_
#define CLIENT_WIN_WIN32_SYSTEM_DIALOG_LOOK_H_

#include <windows.h>

#include <string>

#include "core/words/questions.h"
#include "win32/system/owned.h"

namespace sprites {

using OwnedFont = Owned<HFONT, DeleteObject>;

class DialogLook {
 public:
  // Call at WM_INITDIALOG. The dialog has IDC_FOOTER where its footer begins, and may have
  // IDC_HEADING and IDC_ERROR.
  void Begin(HWND dialog);
  // Paints the page and colours the labels. Returns the result of the message, 0 for the default.
  INT_PTR Handle(HWND dialog, UINT message, WPARAM wparam, LPARAM lparam);

 private:
  void SetHeadingFont(HWND dialog);
  void Paint(HWND dialog, HDC canvas) const;

  OwnedFont heading_;
};

// Sets the text of a control, or of the dialog itself if `id` is 0.
void SetWords(HWND dialog, int id, const std::wstring& text);
// The text of a control, as UTF-8.
std::string TextIn(HWND dialog, int id);
// Shows a note in IDC_ERROR or in IDC_MEANING, which are at the same place.
void ShowNote(HWND dialog, const FieldNote& note);
// Shows what is wrong with an input, and puts the focus there.
void ShowInputError(HWND dialog, int id, const std::wstring& text);

// Whether the system shows its colours in high contrast.
bool IsHighContrast();

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_DIALOG_LOOK_H_
