// The dialog in which the user edits the settings.
#ifndef CLIENT_WIN_WIN32_SETTINGS_DIALOG_H_
#define CLIENT_WIN_WIN32_SETTINGS_DIALOG_H_

#include <windows.h>

#include <optional>

#include "core/desktop/settings.h"

namespace sprites {

// Shows the dialog, waits until it is closed, and returns the edited settings, each within its
// limits; nullopt if the user cancelled. A call while the dialog is open brings it to the front and
// returns nullopt.
std::optional<Settings> AskForSettings(HWND owner, const Settings& settings);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SETTINGS_DIALOG_H_
