// The questions that the program asks, and the texts that it shows in a window: task dialogs, or
// where there is something to type, dialogs of its own.
#ifndef CLIENT_WIN_WIN32_DIALOGS_QUESTIONS_H_
#define CLIENT_WIN_WIN32_DIALOGS_QUESTIONS_H_

#include <windows.h>

#include "core/words/questions.h"

namespace sprites {

// Shows a question, waits for the answer, and calls `yes` for the first button of two. Escape
// chooses the last one.
void Ask(HWND owner, const Question& question, const Yes& yes);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_DIALOGS_QUESTIONS_H_
