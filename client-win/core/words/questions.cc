#include "core/words/questions.h"

#include "core/desktop/version.h"
#include "core/relay/moderation.h"
#include "core/relay/relay_link.h"

namespace sprites {

Question QuestionToClose(Language language) {
  return {.heading = Say(language, Text::kAskCloseHeading),
          .text = Say(language, Text::kAskCloseText),
          .yes = Say(language, Text::kAskCloseYes),
          .no = Say(language, Text::kAskCloseNo),
          .box_label = Say(language, Text::kAskCloseNever)};
}

Question QuestionAboutReport(Language language, std::string_view sprite, const std::string& relay) {
  return {.title = Say(language, Text::kReportTitle),
          .heading = Say(language, Text::kReportHeading),
          .text = Say(language, Text::kReportText, {sprite, HostOf(relay)}),
          .yes = Say(language, Text::kReportSend),
          .no = Say(language, Text::kButtonCancel),
          .box_label = Say(language, Text::kReportHide),
          .is_ticked = true,
          .fields = {{"", Say(language, Text::kReportReason), "", kReasonBytesMax}}};
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
          .yes = Say(language, Text::kButtonOk)};
}

}  // namespace sprites
