// What the program asks, and the texts that it shows in a window, for the dialogs of every shell.
#ifndef CLIENT_WIN_CORE_WORDS_QUESTIONS_H_
#define CLIENT_WIN_CORE_WORDS_QUESTIONS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/picture/sheet.h"
#include "core/text/texts.h"

namespace sprites {

// What stands below a field: what its text means, or why it is refused.
struct FieldNote {
  std::string text;
  bool is_error = false;
};

// A line to type.
struct QuestionField {
  std::string text;
  std::string label;
  std::string cue;       // shown while it is empty
  size_t bytes_max = 0;  // bytes
};

// What a dialog shows. Labels may have `&` before their access keys.
struct Question {
  std::string title = "Sprites";
  std::string heading;
  std::string text;
  std::string yes;        // the label of the first button
  std::string no;         // of the second; empty for none
  std::string box_label;  // of a box to tick; empty for none
  bool is_ticked = false;
  std::vector<QuestionField> fields;
  // What the text of the first field means; empty for nothing.
  std::function<FieldNote(const std::string& text)> note;
  // Whether a text of the clipboard may stand in the first field while that is empty; empty for no.
  std::function<bool(const std::string& copied)> offers;
  std::vector<SheetPointer> characters;  // are shown where a dialog has room
};

// What the person has typed and ticked.
struct Answer {
  std::vector<std::string> fields;
  bool is_ticked = false;
};
// What the first button does. Returns why not, and the dialog stays open; "" when it is done.
using Yes = std::function<std::string(const Answer& answer)>;

// Before the program ends. The box: not to be asked again.
Question QuestionToClose(Language language);
// Why the person reports a picture to the operator of a relay. The box: to hide it here too.
Question QuestionAboutReport(Language language, std::string_view sprite, const std::string& relay);
Question HowToPlay(Language language);
Question AboutProgram(Language language);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_WORDS_QUESTIONS_H_
