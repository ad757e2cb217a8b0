#include "core/words/questions.h"

#include "core/desktop/version.h"

namespace sprites {

Question QuestionToClose(Language language) {
  return {.heading = Say(language, Text::kAskCloseHeading),
          .text = Say(language, Text::kAskCloseText),
          .yes = Say(language, Text::kAskCloseYes),
          .no = Say(language, Text::kAskCloseNo),
          .box_label = Say(language, Text::kAskCloseNever)};
}

Question HowToPlay(Language language) {
  return {.heading = Say(language, Text::kHowToHeading),
          .text = Say(language, Text::kHowToText),
          .yes = Say(language, Text::kButtonOk)};
}

Question AboutProgram(Language language) {
  return {.title = Say(language, Text::kAboutTitle),
          .heading = "Sprites " SPRITES_VERSION_WORDS,
          .text = Say(language, Text::kAboutText),
          .yes = Say(language, Text::kButtonOk),
          .has_characters = true};
}

}  // namespace sprites
