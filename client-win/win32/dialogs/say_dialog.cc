#include "win32/dialogs/say_dialog.h"
// After windows.h.
#include <commctrl.h>

#include <string>

#include "win32/system/dialog_look.h"
#include "win32/system/resource.h"
#include "win32/system/text16.h"

namespace sprites {

void SayDialog::Update() {
  const Speech& speech = desktop_->talk().speech();
  if (window() == nullptr || speech == shown_) {
    return;
  }
  const bool is_accepted = speech.accepted != shown_.accepted;
  shown_ = speech;
  if (is_accepted) {
    SetWords(window(), IDC_SAY, L"");
  }
  ShowNote();
}

void SayDialog::SetUp() {
  const auto words = [this](Text text) { return Wide(Say(desktop_->language(), text)); };
  SetWords(window(), 0, words(Text::kSayTitle));
  SetWords(window(), IDC_SAY_LABEL, words(Text::kSayLabel));
  SetWords(window(), IDOK, words(Text::kSaySend));
  SetWords(window(), IDCANCEL, words(Text::kSayClose));
  SendDlgItemMessageW(window(), IDC_SAY, EM_SETLIMITTEXT, kSayingBytesMax, 0);
  SetWindowSubclass(GetDlgItem(window(), IDC_SAY), OnFieldMessage, 0, 0);
  desktop_->talk().ClearNote();
  shown_ = desktop_->talk().speech();
  SetWords(window(), IDC_SAY, Wide(shown_.unsaid));
  SendDlgItemMessageW(window(), IDC_SAY, EM_SETSEL, 0, -1);
  ShowCount();
  ShowNote();
}

// Shows how long the line is, when there are few bytes left.
void SayDialog::ShowCount() const {
  const size_t bytes = SayingText(TextIn(window(), IDC_SAY)).size();
  SetWords(window(), IDC_SAY_COUNT, Wide(SayingLength(bytes)));
}

void SayDialog::ShowNote() const {
  sprites::ShowNote(window(), {shown_.note, shown_.IsRefused()});
  SendDlgItemMessageW(window(), IDC_SAY, EM_SETREADONLY, shown_.is_pending, 0);
  if (!shown_.note.empty()) {
    // A screen reader reads the label that has changed.
    const int shown = shown_.IsRefused() ? IDC_ERROR : IDC_MEANING;
    NotifyWinEvent(EVENT_OBJECT_NAMECHANGE, GetDlgItem(window(), shown), OBJID_CLIENT,
                   CHILDID_SELF);
  }
}

void SayDialog::Send() {
  const std::string text = TextIn(window(), IDC_SAY);
  if (SayingText(text).empty()) {
    if (!shown_.is_pending) {
      Close();
    }
    return;
  }
  desktop_->talk().Speak(text);
  Update();
}

bool SayDialog::Handle(UINT message, WPARAM wparam, LPARAM) {
  if (message != WM_COMMAND) {
    return false;
  }
  if (LOWORD(wparam) == IDOK) {
    Send();
  } else if (LOWORD(wparam) == IDCANCEL) {
    Close();
  } else if (LOWORD(wparam) == IDC_SAY && HIWORD(wparam) == EN_CHANGE) {
    ShowCount();
  }
  return true;
}

// While another dialog or a menu runs its message loop, nobody else translates these keys.
LRESULT CALLBACK SayDialog::OnFieldMessage(HWND field, UINT message, WPARAM wparam, LPARAM lparam,
                                           UINT_PTR id, DWORD_PTR) {
  const bool is_command = wparam == VK_RETURN || wparam == VK_ESCAPE;
  if (message == WM_KEYDOWN && is_command) {
    PostMessageW(GetParent(field), WM_COMMAND, wparam == VK_RETURN ? IDOK : IDCANCEL, 0);
    return 0;
  }
  if (message == WM_CHAR && is_command) {
    return 0;  // it would beep
  }
  if (message == WM_NCDESTROY) {
    RemoveWindowSubclass(field, OnFieldMessage, id);
  }
  return DefSubclassProc(field, message, wparam, lparam);
}

}  // namespace sprites
