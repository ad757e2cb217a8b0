#include "win32/dialogs/questions.h"
// After windows.h.
#include <commctrl.h>

#include <string>

#include "win32/dialogs/field_dialog.h"
#include "win32/system/resource.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

HRESULT CALLBACK OnTaskDialog(HWND dialog, UINT message, WPARAM, LPARAM, LONG_PTR) {
  if (message == TDN_CREATED) {
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

void Ask(HWND owner, const Question& question, const Yes& yes) {
  if (!question.fields.empty()) {
    AskInFields(owner, question, yes);
    return;
  }
  const std::wstring title = Wide(question.title);
  const std::wstring heading = Wide(question.heading);
  const std::wstring text = Wide(question.text);
  const std::wstring first = Wide(question.yes);
  const std::wstring no = Wide(question.no);
  const std::wstring box = Wide(question.box_label);
  const TASKDIALOG_BUTTON buttons[] = {{IDYES, first.c_str()}, {IDCANCEL, no.c_str()}};
  const TASKDIALOG_BUTTON only{IDCANCEL, first.c_str()};
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
  if (SUCCEEDED(TaskDialogIndirect(&dialog, &chosen, nullptr, &is_checked)) && chosen == IDYES) {
    yes({{}, is_checked != FALSE});
  }
}

}  // namespace sprites
