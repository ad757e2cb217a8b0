// The window that asks where to go: at the first start, and whenever the user wants to open a link.
#ifndef CLIENT_WIN_WIN32_DIALOGS_LINK_DIALOG_H_
#define CLIENT_WIN_WIN32_DIALOGS_LINK_DIALOG_H_

#include <windows.h>

#include <functional>
#include <span>
#include <string>

#include "core/picture/sheet.h"
#include "core/text/texts.h"

namespace sprites {

// What the window shows.
struct LinkQuestion {
  Language language = Language::kEnglish;
  bool is_first_start = false;
  std::string link;  // in the field
  std::string name;
  std::span<const SheetPointer> characters;  // at the top; they outlive the window
  // Whether a text of the clipboard may stand in the empty field.
  std::function<bool(const std::string& copied)> offers;
  // Goes where the link leads. Returns why not, and the window stays open; "" if it goes there.
  std::function<std::string(const std::string& link, const std::string& name)> go;
};

// Shows the window, and waits until it is closed.
void AskForLink(HWND owner, const LinkQuestion& question);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_DIALOGS_LINK_DIALOG_H_
