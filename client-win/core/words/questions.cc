#include "core/words/questions.h"

#include "core/desktop/version.h"

namespace sprites {

Question QuestionToClose(Language language) {
  Question question;
  question.heading = Say(language, Text::kAskCloseHeading);
  question.text = Say(language, Text::kAskCloseText);
  question.yes = Say(language, Text::kAskCloseYes);
  question.no = Say(language, Text::kAskCloseNo);
  question.box_label = Say(language, Text::kAskCloseNever);
  return question;
}

Question HowToPlay(Language language) {
  Question question;
  question.heading = Say(language, Text::kHowToHeading);
  question.text = Say(language, Text::kHowToText);
  question.yes = Say(language, Text::kButtonOk);
  return question;
}

Question AboutProgram(Language language) {
  Question question;
  question.title = Say(language, Text::kAboutTitle);
  question.heading = "Sprites " SPRITES_VERSION_WORDS;
  question.text = Say(language, Text::kAboutText);
  question.yes = Say(language, Text::kButtonOk);
  question.has_characters = true;
  return question;
}

}  // namespace sprites
