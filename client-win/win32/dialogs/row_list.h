// The list of a dialog: rows of texts in columns (a list view in report mode), of which one is
// chosen. A screen reader reads each row.
//
// Threads: that of the dialog.
#ifndef CLIENT_WIN_WIN32_DIALOGS_ROW_LIST_H_
#define CLIENT_WIN_WIN32_DIALOGS_ROW_LIST_H_

#include <windows.h>

#include <span>
#include <string>
#include <vector>

namespace sprites {

// `name` is what a screen reader calls the list.
void SetColumns(HWND list, const std::wstring& name, std::span<const std::wstring> titles);
// Shows these rows, each with a text for each column. A row changes where it is, so it stays
// chosen, and one whose texts are the same is left alone.
void ShowRows(HWND list, const std::vector<std::vector<std::wstring>>& rows);
// Each column but the last one is as wide as its title and its texts, and at most that share of the
// list, in percent. The last one has the rest.
void FitColumns(HWND list, std::span<const int> percents_max);
// -1 for none.
int ChosenRow(HWND list);
void ChooseRow(HWND list, int row);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_DIALOGS_ROW_LIST_H_
