// The settings, edited in a dialog.
#ifndef CLIENT_WIN_WIN32_SETTINGS_DIALOG_H_
#define CLIENT_WIN_WIN32_SETTINGS_DIALOG_H_

#include <windows.h>

#include <optional>

#include "core/desktop/settings.h"

namespace sprites {

// Shows them and waits. What was chosen, inside its limits; nothing when it was called off. While
// it is open, asking again brings it to the front and answers nothing.
std::optional<Settings> AskForSettings(HWND owner, const Settings& settings);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SETTINGS_DIALOG_H_
