// The questions that the program asks, and the texts that it shows in a window: task dialogs.
#ifndef CLIENT_WIN_WIN32_DIALOGS_QUESTIONS_H_
#define CLIENT_WIN_WIN32_DIALOGS_QUESTIONS_H_

#include <windows.h>

#include <string>

#include "core/text/texts.h"
#include "core/words/link_words.h"

namespace sprites {

// Asks whether to end the program. Sets *never_again if the user does not want to be asked again.
bool AskToClose(HWND owner, Language language, bool* never_again);
// Asks a question. Returns whether the answer is yes.
bool AskWhether(HWND owner, const LinkWords& question);
// Asks whether to download an installer of this version from this relay.
bool AskToDownload(HWND owner, Language language, const std::string& version,
                   const std::string& relay);
// Ends the question or the text that is shown, as Escape does.
void CancelQuestion();
void ShowHowToPlay(HWND owner, Language language);
void ShowAbout(HWND owner, Language language);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_DIALOGS_QUESTIONS_H_
