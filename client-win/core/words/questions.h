// What the program asks, and the texts that it shows in a window, for the dialogs of every shell.
#ifndef CLIENT_WIN_CORE_WORDS_QUESTIONS_H_
#define CLIENT_WIN_CORE_WORDS_QUESTIONS_H_

#include <string>

#include "core/text/texts.h"

namespace sprites {

// What a dialog shows. Labels may have `&` before their access keys.
struct Question {
  std::string title = "Sprites";
  std::string heading;
  std::string text;
  std::string yes;              // the label of the first button
  std::string no;               // of the second; empty for none
  std::string box_label;        // of a box to tick; empty for none
  bool has_characters = false;  // those that come with the program, where a dialog has room
};

// Before the program ends. The box: not to be asked again.
Question QuestionToClose(Language language);
Question HowToPlay(Language language);
Question AboutProgram(Language language);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_WORDS_QUESTIONS_H_
