// The window that asks where to go: at the first start, and whenever the user wants to open a link.
#ifndef CLIENT_WIN_WIN32_DIALOGS_LINK_DIALOG_H_
#define CLIENT_WIN_WIN32_DIALOGS_LINK_DIALOG_H_

#include <windows.h>

#include <optional>
#include <span>
#include <string>

#include "core/picture/sheet.h"
#include "core/relay/relay_link.h"
#include "core/text/texts.h"

namespace sprites {

// What the window shows.
struct LinkQuestion {
  Language language = Language::kEnglish;
  bool is_first_start = false;
  bool has_relay = false;  // a bare invitation is enough
  std::string link;        // in the field
  std::string name;
  std::span<const SheetPointer> characters;  // at the top; they outlive the window
};

struct LinkAnswer {
  RelayLink link;
  std::string name;
};

// Shows the window, waits until it is closed, and returns the answer; nullopt if the user wants
// none now. The text of the clipboard is in the field if it is a link.
std::optional<LinkAnswer> AskForLink(HWND owner, const LinkQuestion& question);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_DIALOGS_LINK_DIALOG_H_
