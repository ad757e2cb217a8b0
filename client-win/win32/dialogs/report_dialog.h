// The dialog in which the user reports a picture to the relay's operator.
#ifndef CLIENT_WIN_WIN32_DIALOGS_REPORT_DIALOG_H_
#define CLIENT_WIN_WIN32_DIALOGS_REPORT_DIALOG_H_

#include <windows.h>

#include <optional>
#include <string>

#include "core/text/texts.h"

namespace sprites {

struct Report {
  std::string reason;  // may be empty
  bool hides = true;   // the picture on this desktop too
};

// Shows the dialog for a sprite with this name, at this relay, and waits until it is closed.
// Returns nullopt if the user cancelled.
std::optional<Report> AskForReport(HWND owner, Language language, const std::string& sprite,
                                   const std::string& relay);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_DIALOGS_REPORT_DIALOG_H_
