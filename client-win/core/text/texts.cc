#include "core/text/texts.h"

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

}  // namespace

size_t TextCount() { return std::size(kRows); }

const char* TemplateOf(Language language, Text text) {
  return kRows[static_cast<size_t>(text)].texts[static_cast<size_t>(language)];
}

const char* NameOf(Text text) { return kRows[static_cast<size_t>(text)].name; }

std::string Say(Language language, Text text, std::initializer_list<std::string_view> values) {
  std::string said;
  std::string_view rest = TemplateOf(language, text);
  while (!rest.empty()) {
    const bool is_value =
        rest.size() >= 3 && rest[0] == '{' && rest[1] >= '0' && rest[1] <= '9' && rest[2] == '}';
    const size_t index = is_value ? static_cast<size_t>(rest[1] - '0') : 0;
    if (is_value && index < values.size()) {
      said += values.begin()[index];
      rest.remove_prefix(3);
    } else {
      said += rest.front();
      rest.remove_prefix(1);
    }
  }
  return said;
}

Language LanguageOf(std::string_view tag) {
  const bool is_german = tag.size() >= 2 && (tag[0] | 0x20) == 'd' && (tag[1] | 0x20) == 'e' &&
                         (tag.size() == 2 || tag[2] == '-' || tag[2] == '_');
  return is_german ? Language::kGerman : Language::kEnglish;
}

}  // namespace sprites
