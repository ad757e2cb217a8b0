// The dialog in which the user edits the settings.
#ifndef CLIENT_WIN_WIN32_DIALOGS_SETTINGS_DIALOG_H_
#define CLIENT_WIN_WIN32_DIALOGS_SETTINGS_DIALOG_H_

#include <windows.h>

#include <functional>
#include <optional>

#include "core/desktop/files/settings.h"
#include "core/text/texts.h"

namespace sprites {

struct SettingsQuestion {
  Language language = Language::kEnglish;
  Settings settings;
  bool can_start = true;              // the program may be set to start with Windows
  bool begins_at_name = false;        // the field of the name has the keyboard
  std::function<void()> open_sounds;  // shows the folder of the own sounds
};

// Shows the dialog, waits until it is closed, and returns the edited settings, each within its
// limits; nullopt if the user cancelled. A call while the dialog is open brings it to the front and
// returns nullopt.
std::optional<Settings> AskForSettings(HWND owner, const SettingsQuestion& question);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_DIALOGS_SETTINGS_DIALOG_H_
