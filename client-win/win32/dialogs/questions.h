// The questions that the program asks, and the texts that it shows in a window: task dialogs.
#ifndef CLIENT_WIN_WIN32_DIALOGS_QUESTIONS_H_
#define CLIENT_WIN_WIN32_DIALOGS_QUESTIONS_H_

#include <windows.h>

#include "core/words/questions.h"

namespace sprites {

// Shows a question, and returns whether the answer is yes, its first button of two. Escape chooses
// the last one. Sets *is_ticked if the user has ticked the box.
bool Ask(HWND owner, const Question& question, bool* is_ticked = nullptr);
// Ends the question or the text that is shown, as Escape does.
void CancelQuestion();

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_DIALOGS_QUESTIONS_H_
