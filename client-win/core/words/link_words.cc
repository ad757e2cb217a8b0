#include "core/words/link_words.h"

namespace sprites {

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

}  // namespace sprites
