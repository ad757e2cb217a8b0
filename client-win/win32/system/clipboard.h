// The text on the clipboard.
#ifndef CLIENT_WIN_WIN32_SYSTEM_CLIPBOARD_H_
#define CLIENT_WIN_WIN32_SYSTEM_CLIPBOARD_H_

#include <windows.h>

#include <string>

namespace sprites {

// Returns false if another program holds the clipboard.
bool CopyToClipboard(HWND owner, const std::string& text);
// The text on the clipboard; empty if there is none, or more than `bytes_max`.
std::string ClipboardText(HWND owner, size_t bytes_max);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_CLIPBOARD_H_
