#include "win32/dialogs/report_dialog.h"
// After windows.h.
#include <commctrl.h>

#include "core/relay/moderation.h"
#include "core/relay/relay_link.h"
#include "core/text/text.h"
#include "win32/system/dialog_look.h"
#include "win32/system/resource.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

struct Dialog {
  Language language;
  std::string sprite;
  std::string relay;
  Report report;
  DialogLook look;
};

void Open(HWND dialog, Dialog* state) {
  const auto words = [state](Text text, std::initializer_list<std::string_view> values = {}) {
    return Wide(Say(state->language, text, values));
  };
  state->look.Begin(dialog);
  SetWords(dialog, 0, words(Text::kReportTitle));
  SetWords(dialog, IDC_HEADING, words(Text::kReportHeading));
  SetWords(dialog, IDC_TEXT, words(Text::kReportText, {state->sprite, HostOf(state->relay)}));
  SetWords(dialog, IDC_REASON_LABEL, words(Text::kReportReason));
  SetWords(dialog, IDC_HIDE_TOO, words(Text::kReportHide));
  SetWords(dialog, IDOK, words(Text::kReportSend));
  SetWords(dialog, IDCANCEL, words(Text::kButtonCancel));
  SendDlgItemMessageW(dialog, IDC_REASON, EM_SETLIMITTEXT, kReasonBytesMax, 0);
  CheckDlgButton(dialog, IDC_HIDE_TOO, BST_CHECKED);
}

INT_PTR CALLBACK OnDialog(HWND dialog, UINT message, WPARAM wparam, LPARAM lparam) {
  if (message == WM_INITDIALOG) {
    SetWindowLongPtrW(dialog, GWLP_USERDATA, lparam);
    Open(dialog, reinterpret_cast<Dialog*>(lparam));
    SetForegroundWindow(dialog);
    SetFocus(GetDlgItem(dialog, IDC_REASON));
    return FALSE;
  }
  auto* state = reinterpret_cast<Dialog*>(GetWindowLongPtrW(dialog, GWLP_USERDATA));
  if (state == nullptr) {
    return FALSE;
  }
  if (message != WM_COMMAND) {
    return state->look.Handle(dialog, message, wparam, lparam);
  }
  if (LOWORD(wparam) == IDOK) {
    state->report = {PlainText(TextIn(dialog, IDC_REASON), kReasonBytesMax),
                     IsDlgButtonChecked(dialog, IDC_HIDE_TOO) == BST_CHECKED};
    EndDialog(dialog, IDOK);
  } else if (LOWORD(wparam) == IDCANCEL) {
    EndDialog(dialog, IDCANCEL);
  }
  return TRUE;
}

}  // namespace

std::optional<Report> AskForReport(HWND owner, Language language, const std::string& sprite,
                                   const std::string& relay) {
  Dialog state{language, sprite, relay, {}, {}};
  const INT_PTR ended = DialogBoxParamW(GetModuleHandleW(nullptr), MAKEINTRESOURCEW(IDD_REPORT),
                                        owner, OnDialog, reinterpret_cast<LPARAM>(&state));
  return ended == IDOK ? std::optional(std::move(state.report)) : std::nullopt;
}

}  // namespace sprites
