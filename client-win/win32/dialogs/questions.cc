#include "win32/dialogs/questions.h"
// After windows.h.
#include <commctrl.h>

#include <iterator>

#include "core/desktop/version.h"
#include "core/relay/relay_link.h"
#include "win32/system/resource.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

// The words of a task dialog. The last button is the default one, and Escape chooses it.
struct Words {
  std::wstring title = L"Sprites";
  std::wstring heading;
  std::wstring text;
  std::wstring yes;  // empty for a dialog with one button only
  std::wstring no;
  std::wstring never_again;  // of a check box; empty for none
};

HWND open_question = nullptr;

HRESULT CALLBACK OnTaskDialog(HWND dialog, UINT message, WPARAM, LPARAM, LONG_PTR) {
  if (message == TDN_DESTROYED) {
    open_question = nullptr;
  } else if (message == TDN_CREATED) {
    open_question = dialog;
    // The program has no window that could be in front, or in the middle of the monitor.
    POINT pointer{};
    GetCursorPos(&pointer);
    MONITORINFO monitor{};
    monitor.cbSize = sizeof monitor;
    GetMonitorInfoW(MonitorFromPoint(pointer, MONITOR_DEFAULTTOPRIMARY), &monitor);
    RECT rect{};
    GetWindowRect(dialog, &rect);
    const RECT& work = monitor.rcWork;
    SetWindowPos(dialog, HWND_TOPMOST, (work.left + work.right - (rect.right - rect.left)) / 2,
                 (work.top + work.bottom - (rect.bottom - rect.top)) / 2, 0, 0, SWP_NOSIZE);
    SetForegroundWindow(dialog);
  }
  return S_OK;
}

// Returns whether the user has chosen the first button.
bool Ask(HWND owner, const Words& words, bool* never_again = nullptr) {
  const TASKDIALOG_BUTTON buttons[] = {{IDYES, words.yes.c_str()}, {IDCANCEL, words.no.c_str()}};
  const size_t first = words.yes.empty() ? 1 : 0;
  TASKDIALOGCONFIG dialog{};
  dialog.cbSize = sizeof dialog;
  dialog.hwndParent = owner;
  dialog.hInstance = GetModuleHandleW(nullptr);
  dialog.dwFlags = TDF_ALLOW_DIALOG_CANCELLATION;
  dialog.pszWindowTitle = words.title.c_str();
  dialog.pszMainIcon = MAKEINTRESOURCEW(IDI_PROGRAM);
  dialog.pszMainInstruction = words.heading.c_str();
  dialog.pszContent = words.text.c_str();
  dialog.pszVerificationText = words.never_again.empty() ? nullptr : words.never_again.c_str();
  dialog.pfCallback = OnTaskDialog;
  dialog.pButtons = buttons + first;
  dialog.cButtons = static_cast<UINT>(std::size(buttons) - first);
  dialog.nDefaultButton = IDCANCEL;
  int chosen = 0;
  BOOL is_checked = FALSE;
  if (FAILED(TaskDialogIndirect(&dialog, &chosen, nullptr, &is_checked))) {
    return false;
  }
  if (never_again != nullptr) {
    *never_again = is_checked != 0;
  }
  return chosen == IDYES;
}

}  // namespace

void CancelQuestion() {
  if (open_question != nullptr) {
    PostMessageW(open_question, TDM_CLICK_BUTTON, IDCANCEL, 0);
  }
}

bool AskToClose(HWND owner, Language language, bool* never_again) {
  Words words;
  words.heading = Wide(Say(language, Text::kAskCloseHeading));
  words.text = Wide(Say(language, Text::kAskCloseText));
  words.yes = Wide(Say(language, Text::kAskCloseYes));
  words.no = Wide(Say(language, Text::kAskCloseNo));
  words.never_again = Wide(Say(language, Text::kAskCloseNever));
  return Ask(owner, words, never_again);
}

bool AskWhether(HWND owner, const LinkWords& question) {
  Words words;
  words.heading = Wide(question.heading);
  words.text = Wide(question.text);
  words.yes = Wide(question.yes);
  words.no = Wide(question.no);
  return Ask(owner, words);
}

bool AskToDownload(HWND owner, Language language, const std::string& version,
                   const std::string& relay) {
  Words words;
  words.heading = Wide(Say(language, Text::kAskUpdateHeading, {version}));
  words.text = Wide(Say(language, Text::kAskUpdateText, {HostOf(relay)}));
  words.yes = Wide(Say(language, Text::kAskUpdateYes));
  words.no = Wide(Say(language, Text::kAskUpdateNo));
  return Ask(owner, words);
}

void ShowHowToPlay(HWND owner, Language language) {
  Words words;
  words.heading = Wide(Say(language, Text::kHowToHeading));
  words.text = Wide(Say(language, Text::kHowToText));
  words.no = Wide(Say(language, Text::kButtonOk));
  Ask(owner, words);
}

void ShowAbout(HWND owner, Language language) {
  Words words;
  words.title = Wide(Say(language, Text::kAboutTitle));
  words.heading = L"Sprites " + Wide(SPRITES_VERSION_WORDS);
  words.text = Wide(Say(language, Text::kAboutText));
  words.no = Wide(Say(language, Text::kButtonOk));
  Ask(owner, words);
}

}  // namespace sprites
