#include "win32/say_dialog.h"
// After windows.h.
#include <commctrl.h>

#include <string>
#include <utility>

#include "win32/resource.h"
#include "win32/text16.h"

namespace sprites {

void SayDialog::Open(HWND owner) {
  if (window_ == nullptr) {
    CreateDialogParamW(GetModuleHandleW(nullptr), MAKEINTRESOURCEW(IDD_SAY), owner, OnMessage,
                       reinterpret_cast<LPARAM>(this));
  }
  if (window_ != nullptr) {
    ShowWindow(window_, SW_SHOW);
    SetForegroundWindow(window_);
    SetFocus(GetDlgItem(window_, IDC_SAY));
  }
}

void SayDialog::Close() {
  if (HWND window = std::exchange(window_, nullptr); window != nullptr) {
    SetWindowLongPtrW(window, GWLP_USERDATA, 0);
    DestroyWindow(window);
  }
}

void SayDialog::Update() {
  const Speech& speech = desktop_->speech();
  if (window_ == nullptr || speech == shown_) {
    return;
  }
  const bool is_accepted = speech.accepted != shown_.accepted;
  shown_ = speech;
  if (is_accepted) {
    SetWords(window_, IDC_SAY, L"");
  }
  ShowNote();
}

void SayDialog::Fill() {
  const auto words = [this](Text text) { return Wide(Say(desktop_->language(), text)); };
  look_.Begin(window_);
  SetWords(window_, 0, words(Text::kSayTitle));
  SetWords(window_, IDC_SAY_LABEL, words(Text::kSayLabel));
  SetWords(window_, IDOK, words(Text::kSaySend));
  SetWords(window_, IDCANCEL, words(Text::kSayClose));
  SendDlgItemMessageW(window_, IDC_SAY, EM_SETLIMITTEXT, kSayingBytesMax, 0);
  SetWindowSubclass(GetDlgItem(window_, IDC_SAY), OnFieldMessage, 0, 0);
  desktop_->ClearSpeechNote();
  shown_ = desktop_->speech();
  SetWords(window_, IDC_SAY, Wide(shown_.unsaid));
  SendDlgItemMessageW(window_, IDC_SAY, EM_SETSEL, 0, -1);
  ShowCount();
  ShowNote();
}

// Shows how long the line is, when there are few bytes left.
void SayDialog::ShowCount() const {
  const size_t bytes = SayingText(TextIn(window_, IDC_SAY)).size();
  SetWords(window_, IDC_SAY_COUNT, Wide(SayingLength(bytes)));
}

void SayDialog::ShowNote() const {
  const int shown = shown_.IsRefused() ? IDC_ERROR : IDC_MEANING;
  const int hidden = shown_.IsRefused() ? IDC_MEANING : IDC_ERROR;
  SetWords(window_, shown, Wide(shown_.note));
  SetWords(window_, hidden, L"");
  ShowWindow(GetDlgItem(window_, shown), SW_SHOW);
  ShowWindow(GetDlgItem(window_, hidden), SW_HIDE);
  SendDlgItemMessageW(window_, IDC_SAY, EM_SETREADONLY, shown_.is_pending, 0);
  if (!shown_.note.empty()) {
    // A screen reader reads the label that has changed.
    NotifyWinEvent(EVENT_OBJECT_NAMECHANGE, GetDlgItem(window_, shown), OBJID_CLIENT, CHILDID_SELF);
  }
}

void SayDialog::Send() {
  const std::string text = TextIn(window_, IDC_SAY);
  if (SayingText(text).empty()) {
    if (!shown_.is_pending) {
      Close();
    }
    return;
  }
  desktop_->Speak(text);
  Update();
}

INT_PTR CALLBACK SayDialog::OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam) {
  if (message == WM_INITDIALOG) {
    auto* own = reinterpret_cast<SayDialog*>(lparam);
    SetWindowLongPtrW(window, GWLP_USERDATA, lparam);
    own->window_ = window;
    own->Fill();
    return FALSE;  // Open has set the focus
  }
  auto* own = reinterpret_cast<SayDialog*>(GetWindowLongPtrW(window, GWLP_USERDATA));
  if (own == nullptr) {
    return FALSE;
  }
  if (message != WM_COMMAND) {
    return own->look_.Handle(window, message, wparam, lparam);
  }
  if (LOWORD(wparam) == IDOK) {
    own->Send();
  } else if (LOWORD(wparam) == IDCANCEL) {
    own->Close();
  } else if (LOWORD(wparam) == IDC_SAY && HIWORD(wparam) == EN_CHANGE) {
    own->ShowCount();
  }
  return TRUE;
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
