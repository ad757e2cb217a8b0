#include "win32/dialogs/link_dialog.h"
// After windows.h.
#include <commctrl.h>

#include "core/relay/relay_link.h"
#include "core/text/text.h"
#include "core/words/link_words.h"
#include "win32/system/clipboard.h"
#include "win32/system/dialog_look.h"
#include "win32/system/resource.h"
#include "win32/system/text16.h"
#include "win32/windows/parade.h"

namespace sprites {

namespace {

// The state of the dialog while it is open.
struct Dialog {
  const LinkQuestion& question;
  DialogLook look;
};

std::wstring Words(const Dialog& state, Text text) {
  return Wide(Say(state.question.language, text));
}

void FillLink(HWND dialog, const std::string& link) {
  SetWords(dialog, IDC_LINK, Wide(link));
  SendDlgItemMessageW(dialog, IDC_LINK, EM_SETSEL, 0, -1);
}

void Open(HWND dialog, Dialog* state) {
  const bool is_first = state->question.is_first_start;
  state->look.Begin(dialog);
  SetWords(dialog, 0, Words(*state, Text::kLinkTitle));
  SetWords(dialog, IDC_HEADING, Words(*state, is_first ? Text::kLinkWelcome : Text::kLinkOpen));
  SetWords(dialog, IDC_TEXT,
           Words(*state, is_first ? Text::kLinkWelcomeText : Text::kLinkOpenText));
  SetWords(dialog, IDC_LINK_LABEL, Words(*state, Text::kLinkField));
  SetWords(dialog, IDC_NAME_LABEL, Words(*state, Text::kLinkName));
  SetWords(dialog, IDOK, Words(*state, Text::kLinkJoin));
  SetWords(dialog, IDCANCEL, Words(*state, Text::kLinkLater));
  const std::pair<int, Text> cues[] = {{IDC_LINK, Text::kLinkCue}, {IDC_NAME, Text::kLinkNameCue}};
  for (const auto& [id, cue] : cues) {
    SendDlgItemMessageW(dialog, id, EM_SETCUEBANNER, TRUE,
                        reinterpret_cast<LPARAM>(Words(*state, cue).c_str()));
  }
  SendDlgItemMessageW(dialog, IDC_LINK, EM_SETLIMITTEXT, kLinkBytesMax, 0);
  SendDlgItemMessageW(dialog, IDC_NAME, EM_SETLIMITTEXT, kNameBytesMax, 0);
  SetWords(dialog, IDC_NAME, Wide(state->question.name));
  FillLink(dialog, state->question.link);
}

// The person may have copied a link in another window since.
void OfferCopied(HWND dialog, const Dialog& state) {
  if (TextIn(dialog, IDC_LINK).empty()) {
    if (const std::string copied = ClipboardText(dialog, kLinkBytesMax);
        state.question.offers(copied)) {
      FillLink(dialog, copied);
    }
  }
}

void ShowMeaning(HWND dialog, const Dialog& state) {
  const FieldNote note = MeaningOf(state.question.language, TextIn(dialog, IDC_LINK));
  SetWords(dialog, IDC_ERROR, note.is_error ? Wide(note.text) : L"");
  SetWords(dialog, IDC_MEANING, note.is_error ? L"" : Wide(note.text));
  ShowWindow(GetDlgItem(dialog, IDC_ERROR), note.is_error ? SW_SHOW : SW_HIDE);
  ShowWindow(GetDlgItem(dialog, IDC_MEANING), note.is_error ? SW_HIDE : SW_SHOW);
}

void AcceptLink(HWND dialog, const Dialog& state) {
  const std::string refusal = state.question.go(TextIn(dialog, IDC_LINK),
                                                PlainText(TextIn(dialog, IDC_NAME), kNameBytesMax));
  if (refusal.empty()) {
    EndDialog(dialog, IDOK);
    return;
  }
  ShowWindow(GetDlgItem(dialog, IDC_MEANING), SW_HIDE);
  ShowWindow(GetDlgItem(dialog, IDC_ERROR), SW_SHOW);
  ShowInputError(dialog, IDC_LINK, Wide(refusal));
}

INT_PTR CALLBACK OnDialog(HWND dialog, UINT message, WPARAM wparam, LPARAM lparam) {
  if (message == WM_INITDIALOG) {
    SetWindowLongPtrW(dialog, GWLP_USERDATA, lparam);
    Open(dialog, reinterpret_cast<Dialog*>(lparam));
    SetForegroundWindow(dialog);
    SetFocus(GetDlgItem(dialog, IDC_LINK));
    return FALSE;
  }
  auto* state = reinterpret_cast<Dialog*>(GetWindowLongPtrW(dialog, GWLP_USERDATA));
  if (state == nullptr) {
    return FALSE;
  }
  switch (message) {
    case WM_DRAWITEM: {
      const auto* item = reinterpret_cast<const DRAWITEMSTRUCT*>(lparam);
      PaintParade(item->hDC, item->rcItem, state->question.characters);
      return TRUE;
    }
    case WM_ACTIVATE:
      if (LOWORD(wparam) != WA_INACTIVE) {
        OfferCopied(dialog, *state);
      }
      return FALSE;
    case WM_COMMAND:
      if (LOWORD(wparam) == IDC_LINK && HIWORD(wparam) == EN_CHANGE) {
        ShowMeaning(dialog, *state);
      } else if (LOWORD(wparam) == IDOK) {
        AcceptLink(dialog, *state);
      } else if (LOWORD(wparam) == IDCANCEL) {
        EndDialog(dialog, IDCANCEL);
      }
      return TRUE;
    default:
      return state->look.Handle(dialog, message, wparam, lparam);
  }
}

}  // namespace

void AskForLink(HWND owner, const LinkQuestion& question) {
  Dialog state{question, {}};
  DialogBoxParamW(GetModuleHandleW(nullptr), MAKEINTRESOURCEW(IDD_LINK), owner, OnDialog,
                  reinterpret_cast<LPARAM>(&state));
}

}  // namespace sprites
