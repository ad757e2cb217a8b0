#include "core/text/texts.h"

#include <iterator>
#include <span>
#include <vector>

#include "core/text/refused.h"

namespace sprites {

namespace {

struct Row {
  const char* name;
  const char* texts[kLanguages];
};
constexpr Row kRows[] = {
#define SPRITES_TEXT_ROW(name, english, german) {#name, {english, german}},
    SPRITES_TEXTS(SPRITES_TEXT_ROW)
#undef SPRITES_TEXT_ROW
};

// The text with `values` in the places of {0} … {9}.
std::string Filled(Language language, Text text, std::span<const std::string_view> values) {
  std::string said;
  std::string_view rest = TemplateOf(language, text);
  while (!rest.empty()) {
    const bool is_value =
        rest.size() >= 3 && rest[0] == '{' && rest[1] >= '0' && rest[1] <= '9' && rest[2] == '}';
    const size_t index = is_value ? static_cast<size_t>(rest[1] - '0') : 0;
    if (is_value && index < values.size()) {
      said += values[index];
      rest.remove_prefix(3);
    } else {
      said += rest.front();
      rest.remove_prefix(1);
    }
  }
  return said;
}

}  // namespace

size_t TextCount() { return std::size(kRows); }

const char* TemplateOf(Language language, Text text) {
  return kRows[static_cast<size_t>(text)].texts[static_cast<size_t>(language)];
}

const char* NameOf(Text text) { return kRows[static_cast<size_t>(text)].name; }

std::string Say(Language language, Text text, std::initializer_list<std::string_view> values) {
  return Filled(language, text, {values.begin(), values.end()});
}

std::string Say(Language language, const Reason& reason) {
  const std::vector<std::string_view> values(reason.values.begin(), reason.values.end());
  return Filled(language, reason.text, values);
}

Language LanguageOf(std::string_view tag) {
  const bool is_german = tag.size() >= 2 && (tag[0] | 0x20) == 'd' && (tag[1] | 0x20) == 'e' &&
                         (tag.size() == 2 || tag[2] == '-' || tag[2] == '_');
  return is_german ? Language::kGerman : Language::kEnglish;
}

}  // namespace sprites
