#include "win32/dialogs/questions.h"
// After windows.h.
#include <commctrl.h>

#include <string>

#include "win32/system/resource.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

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

}  // namespace

bool Ask(HWND owner, const Question& question, bool* is_ticked) {
  const std::wstring title = Wide(question.title);
  const std::wstring heading = Wide(question.heading);
  const std::wstring text = Wide(question.text);
  const std::wstring yes = Wide(question.yes);
  const std::wstring no = Wide(question.no);
  const std::wstring box = Wide(question.box_label);
  const TASKDIALOG_BUTTON buttons[] = {{IDYES, yes.c_str()}, {IDCANCEL, no.c_str()}};
  const TASKDIALOG_BUTTON only{IDCANCEL, yes.c_str()};
  TASKDIALOGCONFIG dialog{};
  dialog.cbSize = sizeof dialog;
  dialog.hwndParent = owner;
  dialog.hInstance = GetModuleHandleW(nullptr);
  dialog.dwFlags = TDF_ALLOW_DIALOG_CANCELLATION;
  dialog.pszWindowTitle = title.c_str();
  dialog.pszMainIcon = MAKEINTRESOURCEW(IDI_PROGRAM);
  dialog.pszMainInstruction = heading.c_str();
  dialog.pszContent = text.c_str();
  dialog.pszVerificationText = box.empty() ? nullptr : box.c_str();
  dialog.pfCallback = OnTaskDialog;
  dialog.pButtons = no.empty() ? &only : buttons;
  dialog.cButtons = no.empty() ? 1 : 2;
  dialog.nDefaultButton = IDCANCEL;
  int chosen = 0;
  BOOL is_checked = FALSE;
  if (FAILED(TaskDialogIndirect(&dialog, &chosen, nullptr, &is_checked))) {
    return false;
  }
  if (is_ticked != nullptr) {
    *is_ticked = is_checked != 0;
  }
  return chosen == IDYES;
}

void CancelQuestion() {
  if (open_question != nullptr) {
    PostMessageW(open_question, TDM_CLICK_BUTTON, IDCANCEL, 0);
  }
}

}  // namespace sprites
