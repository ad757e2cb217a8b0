// What the program asks before it follows a link that something else than the person has opened,
// such as a web page, and before it makes a sprite of somebody's pack.
#ifndef CLIENT_WIN_CORE_WORDS_LINK_WORDS_H_
#define CLIENT_WIN_CORE_WORDS_LINK_WORDS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/desktop/desktop.h"
#include "core/relay/relay_link.h"

namespace sprites {

// The words of a question; `yes` and `no` are the labels of its buttons.
struct LinkWords {
  std::string heading;
  std::string text;
  std::string yes;
  std::string no;
};

// The question before `desktop` follows the link: to leave its relay, or to fetch a picture of a
// gallery. Nothing when none is needed.
std::optional<LinkWords> QuestionBefore(const RelayLink& link, const Desktop& desktop);

// The question before a Shimeji pack of this name becomes a sprite, which others will receive.
LinkWords QuestionAboutPack(Language language, std::string_view name,
                            const std::vector<std::string>& left_out);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_WORDS_LINK_WORDS_H_
