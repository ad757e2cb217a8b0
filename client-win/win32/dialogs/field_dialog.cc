#include "win32/dialogs/field_dialog.h"
// After windows.h.
#include <commctrl.h>

#include <string>
#include <utility>

#include "core/text/text.h"
#include "win32/system/clipboard.h"
#include "win32/system/dialog_look.h"
#include "win32/system/resource.h"
#include "win32/system/text16.h"
#include "win32/windows/parade.h"

namespace sprites {

namespace {

// The state of the dialog while it is open.
struct Dialog {
  const Question& question;
  const Yes& yes;
  DialogLook look;
};

void FillFirst(HWND dialog, const std::string& text) {
  SetWords(dialog, IDC_FIELD, Wide(text));
  SendDlgItemMessageW(dialog, IDC_FIELD, EM_SETSEL, 0, -1);
}

void Open(HWND dialog, Dialog* state) {
  const Question& question = state->question;
  state->look.Begin(dialog);
  const std::pair<int, const std::string*> words[] = {
      {0, &question.title},  {IDC_HEADING, &question.heading}, {IDC_TEXT, &question.text},
      {IDOK, &question.yes}, {IDCANCEL, &question.no},         {IDC_BOX, &question.box_label}};
  for (const auto& [id, text] : words) {
    SetWords(dialog, id, Wide(*text));
  }
  for (int id = IDC_FIELD; const QuestionField& field : question.fields) {
    SetWords(dialog, id + IDC_LABEL, Wide(field.label));
    SendDlgItemMessageW(dialog, id, EM_SETCUEBANNER, TRUE,
                        reinterpret_cast<LPARAM>(Wide(field.cue).c_str()));
    SendDlgItemMessageW(dialog, id, EM_SETLIMITTEXT, field.bytes_max, 0);
    SetWords(dialog, id++, Wide(field.text));
  }
  FillFirst(dialog, question.fields.front().text);
  CheckDlgButton(dialog, IDC_BOX, question.is_ticked ? BST_CHECKED : BST_UNCHECKED);
}

// The person may have copied a link in another window since.
void OfferCopied(HWND dialog, const Question& question) {
  if (question.offers && TextIn(dialog, IDC_FIELD).empty()) {
    if (const std::string copied = ClipboardText(dialog, question.fields.front().bytes_max);
        question.offers(copied)) {
      FillFirst(dialog, copied);
    }
  }
}

void AcceptAnswer(HWND dialog, const Dialog& state) {
  Answer answer{{}, IsDlgButtonChecked(dialog, IDC_BOX) == BST_CHECKED};
  for (int id = IDC_FIELD; const QuestionField& field : state.question.fields) {
    answer.fields.push_back(PlainText(TextIn(dialog, id++), field.bytes_max));
  }
  const std::string refusal = state.yes(answer);
  if (refusal.empty()) {
    EndDialog(dialog, IDOK);
    return;
  }
  ShowNote(dialog, {refusal, true});
  ShowInputError(dialog, IDC_FIELD, Wide(refusal));
}

INT_PTR CALLBACK OnDialog(HWND dialog, UINT message, WPARAM wparam, LPARAM lparam) {
  if (message == WM_INITDIALOG) {
    SetWindowLongPtrW(dialog, GWLP_USERDATA, lparam);
    Open(dialog, reinterpret_cast<Dialog*>(lparam));
    SetForegroundWindow(dialog);
    SetFocus(GetDlgItem(dialog, IDC_FIELD));
    return FALSE;
  }
  auto* state = reinterpret_cast<Dialog*>(GetWindowLongPtrW(dialog, GWLP_USERDATA));
  if (state == nullptr) {
    return FALSE;
  }
  const Question& question = state->question;
  switch (message) {
    case WM_DRAWITEM: {
      const auto* item = reinterpret_cast<const DRAWITEMSTRUCT*>(lparam);
      PaintParade(item->hDC, item->rcItem, question.characters);
      return TRUE;
    }
    case WM_ACTIVATE:
      if (LOWORD(wparam) != WA_INACTIVE) {
        OfferCopied(dialog, question);
      }
      return FALSE;
    case WM_COMMAND:
      if (LOWORD(wparam) == IDC_FIELD && HIWORD(wparam) == EN_CHANGE && question.note) {
        ShowNote(dialog, question.note(TextIn(dialog, IDC_FIELD)));
      } else if (LOWORD(wparam) == IDOK) {
        AcceptAnswer(dialog, *state);
      } else if (LOWORD(wparam) == IDCANCEL) {
        EndDialog(dialog, IDCANCEL);
      }
      return TRUE;
    default:
      return state->look.Handle(dialog, message, wparam, lparam);
  }
}

}  // namespace

void AskInFields(HWND owner, const Question& question, const Yes& yes) {
  Dialog state{question, yes, {}};
  const int dialog = question.fields.size() > 1 ? IDD_TWO_FIELDS : IDD_ONE_FIELD;
  DialogBoxParamW(GetModuleHandleW(nullptr), MAKEINTRESOURCEW(dialog), owner, OnDialog,
                  reinterpret_cast<LPARAM>(&state));
}

}  // namespace sprites
