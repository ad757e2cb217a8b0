#include "win32/dialogs/row_list.h"
// After windows.h.
#include <commctrl.h>

#include <array>

namespace sprites {

namespace {

constexpr int kCellLettersMax = 512;  // more than the longest text in a row

std::wstring CellIn(HWND list, int row, int column) {
  std::array<wchar_t, kCellLettersMax> text{};
  LVITEMW item{};
  item.iSubItem = column;
  item.pszText = text.data();
  item.cchTextMax = kCellLettersMax;
  SendMessageW(list, LVM_GETITEMTEXTW, static_cast<WPARAM>(row), reinterpret_cast<LPARAM>(&item));
  return text.data();
}

void SetCell(HWND list, int row, int column, std::wstring text) {
  LVITEMW item{};
  item.iSubItem = column;
  item.pszText = text.data();
  SendMessageW(list, LVM_SETITEMTEXTW, static_cast<WPARAM>(row), reinterpret_cast<LPARAM>(&item));
}

}  // namespace

void SetColumns(HWND list, const std::wstring& name, std::span<const std::wstring> titles) {
  SetWindowTextW(list, name.c_str());
  ListView_SetExtendedListViewStyle(list, LVS_EX_FULLROWSELECT | LVS_EX_DOUBLEBUFFER);
  for (size_t i = 0; i < titles.size(); i++) {
    std::wstring title = titles[i];
    LVCOLUMNW column{};
    column.mask = LVCF_TEXT;
    column.pszText = title.data();
    SendMessageW(list, LVM_INSERTCOLUMNW, i, reinterpret_cast<LPARAM>(&column));
  }
}

void ShowRows(HWND list, const std::vector<std::vector<std::wstring>>& rows) {
  SendMessageW(list, WM_SETREDRAW, FALSE, 0);
  const int count = static_cast<int>(rows.size());
  for (int row = ListView_GetItemCount(list); row > count; row--) {
    ListView_DeleteItem(list, row - 1);
  }
  for (int row = ListView_GetItemCount(list); row < count; row++) {
    LVITEMW item{};
    item.iItem = row;
    SendMessageW(list, LVM_INSERTITEMW, 0, reinterpret_cast<LPARAM>(&item));
  }
  for (int row = 0; row < count; row++) {
    const auto& texts = rows[static_cast<size_t>(row)];
    for (int column = 0; column < std::ssize(texts); column++) {
      const std::wstring& text = texts[static_cast<size_t>(column)];
      if (CellIn(list, row, column) != text) {
        SetCell(list, row, column, text);
      }
    }
  }
  SendMessageW(list, WM_SETREDRAW, TRUE, 0);
}

void FitColumns(HWND list, std::span<const int> percents_max) {
  RECT inside{};
  GetClientRect(list, &inside);
  const int width = inside.right - GetSystemMetrics(SM_CXVSCROLL);
  int left = width;
  const int last = static_cast<int>(percents_max.size());
  for (int column = 0; column < last; column++) {
    const int most = width * percents_max[static_cast<size_t>(column)] / 100;
    ListView_SetColumnWidth(list, column, LVSCW_AUTOSIZE_USEHEADER);
    if (ListView_GetColumnWidth(list, column) > most) {
      ListView_SetColumnWidth(list, column, most);
    }
    left -= ListView_GetColumnWidth(list, column);
  }
  ListView_SetColumnWidth(list, last, left);
}

int ChosenRow(HWND list) { return ListView_GetNextItem(list, -1, LVNI_SELECTED); }

void ChooseRow(HWND list, int row) {
  ListView_SetItemState(list, row, LVIS_SELECTED | LVIS_FOCUSED, LVIS_SELECTED | LVIS_FOCUSED);
  ListView_EnsureVisible(list, row, FALSE);
}

}  // namespace sprites
