#include "win32/dialogs/link_dialog.h"
// After windows.h.
#include <commctrl.h>

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
  LinkQuestion question;
  LinkAnswer answer;
  DialogLook look;
};

std::wstring Words(const Dialog& state, Text text,
                   std::initializer_list<std::string_view> values = {}) {
  return Wide(Say(state.question.language, text, values));
}

// What the link in the field means, in a sentence. Empty for an empty field.
std::wstring Meaning(const Dialog& state, const std::string& text) {
  if (text.empty()) {
    return L"";
  }
  const auto link = ReadRelayLink(text);
  if (!link) {
    return Words(state, Text::kLinkWrong);
  }
  const std::string host = HostOf(link->relay);
  return link->entry           ? Words(state, Text::kLinkReadsEntry, {link->entry->name, host})
         : link->relay.empty() ? Words(state, Text::kLinkReadsInvitation)
         : !link->invitation.empty() ? Words(state, Text::kLinkReadsFriend, {host})
         : !link->world.empty()      ? Words(state, Text::kLinkReadsWorld, {host, link->world})
                                     : Words(state, Text::kLinkReads, {host});
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
  SetWords(dialog, IDC_LINK, Wide(state->question.link));
  SendDlgItemMessageW(dialog, IDC_LINK, EM_SETSEL, 0, -1);
}

void AcceptLink(HWND dialog, Dialog* state) {
  const auto link = ReadRelayLink(TextIn(dialog, IDC_LINK));
  if (!link) {
    ShowInputError(dialog, IDC_LINK, Words(*state, Text::kLinkWrong));
    return;
  }
  if (link->relay.empty() && !state->question.has_relay) {
    ShowInputError(dialog, IDC_LINK, Words(*state, Text::kLinkNeedsRelay));
    return;
  }
  state->answer = {*link, PlainText(TextIn(dialog, IDC_NAME), kNameBytesMax)};
  EndDialog(dialog, IDOK);
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
    case WM_COMMAND:
      if (LOWORD(wparam) == IDC_LINK && HIWORD(wparam) == EN_CHANGE) {
        const std::string text = TextIn(dialog, IDC_LINK);
        const bool is_valid = ReadRelayLink(text).has_value();
        SetWords(dialog, IDC_ERROR, is_valid ? L"" : Meaning(*state, text));
        SetWords(dialog, IDC_MEANING, is_valid ? Meaning(*state, text) : L"");
        ShowWindow(GetDlgItem(dialog, IDC_ERROR), is_valid ? SW_HIDE : SW_SHOW);
        ShowWindow(GetDlgItem(dialog, IDC_MEANING), is_valid ? SW_SHOW : SW_HIDE);
      } else if (LOWORD(wparam) == IDOK) {
        AcceptLink(dialog, state);
      } else if (LOWORD(wparam) == IDCANCEL) {
        EndDialog(dialog, IDCANCEL);
      }
      return TRUE;
    default:
      return state->look.Handle(dialog, message, wparam, lparam);
  }
}

}  // namespace

std::optional<LinkAnswer> AskForLink(HWND owner, const LinkQuestion& question) {
  Dialog state{question, {}, {}};
  if (state.question.link.empty()) {
    const std::string copied = ClipboardText(owner, kLinkBytesMax);
    state.question.link = ReadRelayLink(copied) ? copied : "";
  }
  const INT_PTR ended = DialogBoxParamW(GetModuleHandleW(nullptr), MAKEINTRESOURCEW(IDD_LINK),
                                        owner, OnDialog, reinterpret_cast<LPARAM>(&state));
  return ended == IDOK ? std::optional(std::move(state.answer)) : std::nullopt;
}

}  // namespace sprites
