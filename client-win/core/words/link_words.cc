#include "core/words/link_words.h"

#include "core/text/text.h"

namespace sprites {

namespace {

constexpr size_t kLeftOutBytesMax = 40;  // of one action's name: as long as such names are
constexpr size_t kLeftOutLetters = 400;  // of all: a few lines of a dialog

}  // namespace

std::optional<LinkWords> QuestionBefore(const RelayLink& link, const Desktop& desktop) {
  const Language language = desktop.language();
  const std::string& relay = desktop.settings().relay;
  const std::string host = HostOf(link.relay);
  if (link.entry) {
    const auto& [file, name, author] = *link.entry;
    return LinkWords{
        author.empty() ? Say(language, Text::kAskTakeHeading, {name})
                       : Say(language, Text::kAskTakeHeadingBy, {name, author}),
        Say(language, relay.empty() ? Text::kAskTakeTextJoin : Text::kAskTakeText, {host}),
        Say(language, Text::kAskTakeYes), Say(language, Text::kAskTakeNo)};
  }
  if (!desktop.LeadsAway(link)) {
    return std::nullopt;
  }
  return LinkWords{Say(language, Text::kAskMoveHeading, {host}),
                   Say(language, Text::kAskMoveText, {HostOf(relay)}),
                   Say(language, Text::kAskMoveYes), Say(language, Text::kAskMoveNo)};
}

LinkWords QuestionAboutPack(Language language, std::string_view name,
                            const std::vector<std::string>& left_out) {
  std::string names;
  for (const std::string& one : left_out) {
    names += (names.empty() ? "" : ", ") + PlainText(one, kLeftOutBytesMax);
  }
  const std::string rest =
      names.empty() ? ""
                    : Say(language, Text::kAskPackLeftOut, {Shortened(names, kLeftOutLetters)});
  return {Say(language, Text::kAskPackHeading, {PlainText(name, kNameBytesMax)}),
          Say(language, Text::kAskPackText) + rest, Say(language, Text::kAskPackYes),
          Say(language, Text::kAskTakeNo)};
}

}  // namespace sprites
