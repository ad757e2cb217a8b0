#include "win32/dialogs/heard_dialog.h"
// After windows.h.
#include <commctrl.h>
#include <windowsx.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "win32/dialogs/row_list.h"
#include "win32/system/dialog_look.h"
#include "win32/system/owned.h"
#include "win32/system/resource.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

// Time and speaker, at most; what was said has the rest.
constexpr std::array kColumnPercents = {22, 22};

// In the format of the user's region.
std::string TimeOfDayAgo(int64_t ms) {
  const __time64_t then = _time64(nullptr) - std::max<int64_t>(0, ms) / 1'000;
  std::tm local{};
  SYSTEMTIME time{};
  if (_localtime64_s(&local, &then) == 0) {
    time.wHour = static_cast<WORD>(local.tm_hour);
    time.wMinute = static_cast<WORD>(local.tm_min);
  }
  wchar_t text[32] = L"";
  GetTimeFormatEx(LOCALE_NAME_USER_DEFAULT, TIME_NOSECONDS, &time, nullptr, text,
                  static_cast<int>(std::size(text)));
  return Narrow(text);
}

}  // namespace

void HeardDialog::Update() {
  const bool is_same = version_ == desktop_->talk().conversation().history_version() &&
                       muted_ == desktop_->settings().muted;
  if (window() != nullptr && !is_same) {
    Fill();
  }
}

void HeardDialog::SetUp() {
  const auto words = [this](Text text) { return Wide(Say(desktop_->language(), text)); };
  SetWords(window(), 0, words(Text::kHeardTitle));
  SetWords(window(), IDCANCEL, words(Text::kSayClose));
  const HWND list = GetDlgItem(window(), IDC_HEARD);
  SetColumns(list, words(Text::kHeardTitle),
             std::array{words(Text::kHeardTime), words(Text::kHeardWho), words(Text::kHeardWhat)});
  rows_.clear();
  Fill();
}

// Fills the list again. The same line stays chosen; the newest does if it was, or if none was.
void HeardDialog::Fill() {
  const HWND list = GetDlgItem(window(), IDC_HEARD);
  const int before = ChosenRow(list);
  const bool follows = before < 0 || before + 1 == std::ssize(rows_);
  const uint64_t chosen_line = first_line_ + static_cast<uint64_t>(std::max(0, before));
  const auto& history = desktop_->talk().conversation().history();
  version_ = desktop_->talk().conversation().history_version();
  muted_ = desktop_->settings().muted;
  first_line_ = history.empty() ? 0 : history.front().id;
  rows_ = HeardRows(*desktop_, TimeOfDayAgo);
  std::vector<std::vector<std::wstring>> texts;
  for (const HeardRow& row : rows_) {
    texts.push_back({Wide(row.time), Wide(row.who), Wide(row.what)});
  }
  ShowRows(list, texts);
  FitColumns(list, kColumnPercents);
  if (!rows_.empty()) {
    const uint64_t last = rows_.size() - 1;
    const uint64_t row =
        follows ? last : std::min(last, chosen_line - std::min(chosen_line, first_line_));
    ChooseRow(list, static_cast<int>(row));
  }
  ShowChosen();
}

const HeardRow* HeardDialog::Chosen() const {
  const int row = ChosenRow(GetDlgItem(window(), IDC_HEARD));
  return row < 0 || row >= std::ssize(rows_) ? nullptr : &rows_[static_cast<size_t>(row)];
}

// Shows the whole text of the chosen row, and whom the button mutes.
void HeardDialog::ShowChosen() {
  const HeardRow* row = Chosen();
  const bool can_mute = row != nullptr && row->speaker;
  const std::string nothing = Say(desktop_->language(), Text::kHeardNothing);
  SetWords(window(), IDC_HEARD_TEXT, Wide(row == nullptr ? nothing : row->what));
  if (can_mute) {
    SetWords(window(), IDC_HEARD_MUTE, Wide(MuteItem(*desktop_, *row).text));
  }
  const HWND button = GetDlgItem(window(), IDC_HEARD_MUTE);
  if (!can_mute && GetFocus() == button) {
    SetFocus(GetDlgItem(window(), IDC_HEARD));
  }
  ShowWindow(button, can_mute ? SW_SHOW : SW_HIDE);
}

// Shows a menu with one entry, at a point of the screen.
void HeardDialog::AskToMute(LPARAM point) {
  const HeardRow* row = Chosen();
  if (row == nullptr || !row->speaker) {
    return;
  }
  const MenuItem item = MuteItem(*desktop_, *row);
  const HWND list = GetDlgItem(window(), IDC_HEARD);
  POINT place{GET_X_LPARAM(point), GET_Y_LPARAM(point)};
  if (point == -1) {  // by the keyboard
    RECT cell{};
    ListView_GetItemRect(list, ChosenRow(list), &cell, LVIR_LABEL);
    place = {cell.left, cell.bottom};
    ClientToScreen(list, &place);
  }
  const OwnedMenu menu(CreatePopupMenu());
  AppendMenuW(menu.get(), MF_STRING, 1, Wide(item.text).c_str());
  if (TrackPopupMenuEx(menu.get(), TPM_RETURNCMD | TPM_RIGHTBUTTON | TPM_NONOTIFY, place.x, place.y,
                       window(), nullptr) == 1) {
    choose_(item.choice);
  }
}

void HeardDialog::HandleCommand(WPARAM wparam) {
  if (LOWORD(wparam) == IDCANCEL) {
    Close();
  } else if (LOWORD(wparam) == IDC_HEARD_MUTE) {
    if (const HeardRow* row = Chosen(); row != nullptr && row->speaker) {
      choose_(MuteItem(*desktop_, *row).choice);
    }
  }
}

bool HeardDialog::Handle(UINT message, WPARAM wparam, LPARAM lparam) {
  switch (message) {
    case WM_COMMAND:
      HandleCommand(wparam);
      return true;
    case WM_CONTEXTMENU:
      if (reinterpret_cast<HWND>(wparam) == GetDlgItem(window(), IDC_HEARD)) {
        AskToMute(lparam);
        return true;
      }
      return false;
    case WM_NOTIFY: {
      const auto& notice = *reinterpret_cast<const NMHDR*>(lparam);
      if (notice.idFrom == IDC_HEARD && notice.code == LVN_ITEMCHANGED &&
          reinterpret_cast<const NMLISTVIEW*>(lparam)->uNewState != 0) {
        ShowChosen();
      }
      return false;
    }
    default:
      return false;
  }
}

}  // namespace sprites
