// Why something that the person gave the program is rejected, in a form that can be said in any
// language.
//
// Invariant: every such reason is in the table of texts, so it exists in every language.
#ifndef CLIENT_WIN_CORE_TEXT_REFUSED_H_
#define CLIENT_WIN_CORE_TEXT_REFUSED_H_

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/text/texts.h"

namespace sprites {

struct Reason {
  Text text{};
  std::vector<std::string> values{};  // for {0} … {9} of the text

  bool operator==(const Reason&) const = default;
};

// A sentence for the person.
std::string Say(Language language, const Reason& reason);

// what() is the sentence in English, for logs and for programs without a language.
class Refused : public std::runtime_error {
 public:
  explicit Refused(Text text, std::vector<std::string> values = {})
      : Refused(Reason{text, std::move(values)}) {}
  const Reason& reason() const { return reason_; }

 private:
  explicit Refused(Reason reason)
      : std::runtime_error(Say(Language::kEnglish, reason)), reason_(std::move(reason)) {}

  Reason reason_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_TEXT_REFUSED_H_
