#include "core/words/link_words.h"

#include "core/text/text.h"

namespace sprites {

namespace {

constexpr size_t kLeftOutBytesMax = 40;  // of one action's name: as long as such names are
constexpr size_t kLeftOutLetters = 400;  // of all: a few lines of a dialog

}  // namespace

std::optional<Question> QuestionBefore(const RelayLink& link, const Desktop& desktop) {
  const Language language = desktop.language();
  const std::string& relay = desktop.settings().relay;
  const std::string host = HostOf(link.relay);
  if (link.entry) {
    const auto& [file, name, author] = *link.entry;
    return Question{
        .heading = author.empty() ? Say(language, Text::kAskTakeHeading, {name})
                                  : Say(language, Text::kAskTakeHeadingBy, {name, author}),
        .text = Say(language, relay.empty() ? Text::kAskTakeTextJoin : Text::kAskTakeText, {host}),
        .yes = Say(language, Text::kAskTakeYes),
        .no = Say(language, Text::kAskTakeNo)};
  }
  if (!desktop.LeadsAway(link)) {
    return std::nullopt;
  }
  return Question{.heading = Say(language, Text::kAskMoveHeading, {host}),
                  .text = Say(language, Text::kAskMoveText, {HostOf(relay)}),
                  .yes = Say(language, Text::kAskMoveYes),
                  .no = Say(language, Text::kAskMoveNo)};
}

Question QuestionWhereToGo(const Desktop& desktop, bool is_first_start, const std::string& link) {
  const auto say = [&desktop](Text text) { return Say(desktop.language(), text); };
  return {
      .title = say(Text::kLinkTitle),
      .heading = say(is_first_start ? Text::kLinkWelcome : Text::kLinkOpen),
      .text = say(is_first_start ? Text::kLinkWelcomeText : Text::kLinkOpenText),
      .yes = say(Text::kLinkJoin),
      .no = say(Text::kLinkLater),
      .fields = {{link, say(Text::kLinkField), say(Text::kLinkCue), kLinkBytesMax},
                 {desktop.settings().name, say(Text::kLinkName), say(Text::kLinkNameCue),
                  kNameBytesMax}},
      .note = [language = desktop.language()](
                  const std::string& text) { return MeaningOf(language, text); },
      .offers = [&desktop](const std::string& copied) { return LeadsElsewhere(copied, desktop); }};
}

FieldNote MeaningOf(Language language, const std::string& text) {
  if (text.empty()) {
    return {};
  }
  const auto link = ReadRelayLink(text);
  if (!link) {
    return {Say(language, Text::kLinkWrong), true};
  }
  const std::string host = HostOf(link->relay);
  return {link->entry           ? Say(language, Text::kLinkReadsEntry, {link->entry->name, host})
          : link->relay.empty() ? Say(language, Text::kLinkReadsInvitation)
          : !link->invitation.empty() ? Say(language, Text::kLinkReadsFriend, {host})
          : !link->world.empty()      ? Say(language, Text::kLinkReadsWorld, {host, link->world})
                                      : Say(language, Text::kLinkReads, {host})};
}

bool LeadsElsewhere(const std::string& copied, const Desktop& desktop) {
  const auto link = ReadRelayLink(copied);
  if (!link || link->entry) {
    return link.has_value();
  }
  const RelayLink here =
      ReadRelayLink(desktop.relay().InvitationLink())
          .value_or(RelayLink{desktop.settings().relay, desktop.settings().world, ""});
  const auto world_of = [](const RelayLink& one) {
    return one.world.empty() ? kCommons : one.world;
  };
  // An invitation to a place beside somebody in the commons names no world.
  const bool names_world = link->invitation.empty() || !link->world.empty();
  const bool is_own = !link->invitation.empty() && link->invitation == here.invitation;
  return !is_own &&
         !(names_world && link->relay == here.relay && world_of(*link) == world_of(here));
}

Question QuestionAboutPack(Language language, std::string_view name,
                           const std::vector<std::string>& left_out) {
  std::string names;
  for (const std::string& one : left_out) {
    names += (names.empty() ? "" : ", ") + PlainText(one, kLeftOutBytesMax);
  }
  const std::string rest =
      names.empty() ? ""
                    : Say(language, Text::kAskPackLeftOut, {Shortened(names, kLeftOutLetters)});
  return {.heading = Say(language, Text::kAskPackHeading, {PlainText(name, kNameBytesMax)}),
          .text = Say(language, Text::kAskPackText) + rest,
          .yes = Say(language, Text::kAskPackYes),
          .no = Say(language, Text::kAskTakeNo)};
}

}  // namespace sprites
