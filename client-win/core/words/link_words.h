// What a link means to a person, and what the program asks before it follows one that something
// else has opened, such as a web page, and before it makes a sprite of somebody's pack.
#ifndef CLIENT_WIN_CORE_WORDS_LINK_WORDS_H_
#define CLIENT_WIN_CORE_WORDS_LINK_WORDS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/desktop/desktop.h"
#include "core/relay/relay_link.h"
#include "core/words/questions.h"

namespace sprites {

// The question before `desktop` follows the link: to leave its relay, or to fetch a picture of a
// gallery. Nothing when none is needed.
std::optional<Question> QuestionBefore(const RelayLink& link, const Desktop& desktop);

// Where to go: a relay or a link, which the person finds filled in with `link`, and a name.
Question QuestionWhereToGo(const Desktop& desktop, bool is_first_start, const std::string& link);

// What the text in the field of a link means. Empty for an empty field.
FieldNote MeaningOf(Language language, const std::string& text);

// Whether a text that was copied is a link that leads to another place than that of the desktop:
// not its own invitation, nor its own world.
bool LeadsElsewhere(const std::string& copied, const Desktop& desktop);

// The question before a Shimeji pack of this name becomes a sprite, which others will receive.
Question QuestionAboutPack(Language language, std::string_view name,
                           const std::vector<std::string>& left_out);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_WORDS_LINK_WORDS_H_
