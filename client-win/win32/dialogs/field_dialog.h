// A question with one line to type, or with two below the characters.
#ifndef CLIENT_WIN_WIN32_DIALOGS_FIELD_DIALOG_H_
#define CLIENT_WIN_WIN32_DIALOGS_FIELD_DIALOG_H_

#include <windows.h>

#include "core/words/questions.h"

namespace sprites {

// Shows the question, and waits until its window is closed.
void AskInFields(HWND owner, const Question& question, const Yes& yes);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_DIALOGS_FIELD_DIALOG_H_
