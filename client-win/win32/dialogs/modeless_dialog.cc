#include "win32/dialogs/modeless_dialog.h"

#include <string_view>
#include <utility>

namespace sprites {

namespace {

// The list of a combo box is no child of it, but of the screen.
bool IsDroppedList(HWND window) {
  wchar_t name[16];
  const int size = GetClassNameW(window, name, 16);
  return std::wstring_view(name, static_cast<size_t>(size)) == L"ComboLBox";
}

}  // namespace

void ModelessDialog::Open(HWND owner) {
  foreground_->Remember();
  if (window_ == nullptr) {
    CreateDialogParamW(GetModuleHandleW(nullptr), MAKEINTRESOURCEW(dialog_), owner, OnMessage,
                       reinterpret_cast<LPARAM>(this));
  }
  if (window_ != nullptr) {
    ShowWindow(window_, SW_SHOW);
    SetForegroundWindow(window_);
    SetFocus(GetDlgItem(window_, first_));
  }
}

void ModelessDialog::Close() {
  if (HWND window = std::exchange(window_, nullptr); window != nullptr) {
    SetWindowLongPtrW(window, GWLP_USERDATA, 0);
    DestroyWindow(window);
    foreground_->GiveBack();
  }
}

bool ModelessDialog::Has(HWND window) const {
  return window_ != nullptr &&
         (window == window_ || IsChild(window_, window) != 0 || IsDroppedList(window));
}

void ModelessDialog::HandleMessage(MSG* message) const {
  if (!IsDialogMessageW(window_, message)) {
    TranslateMessage(message);
    DispatchMessageW(message);
  }
}

INT_PTR CALLBACK ModelessDialog::OnMessage(HWND window, UINT message, WPARAM wparam,
                                           LPARAM lparam) {
  if (message == WM_INITDIALOG) {
    auto* own = reinterpret_cast<ModelessDialog*>(lparam);
    SetWindowLongPtrW(window, GWLP_USERDATA, lparam);
    own->window_ = window;
    own->look_.Begin(window);
    own->SetUp();
    return FALSE;  // Open sets the focus
  }
  auto* own = reinterpret_cast<ModelessDialog*>(GetWindowLongPtrW(window, GWLP_USERDATA));
  if (own == nullptr) {
    return FALSE;
  }
  return own->Handle(message, wparam, lparam) ? TRUE
                                              : own->look_.Handle(window, message, wparam, lparam);
}

}  // namespace sprites
