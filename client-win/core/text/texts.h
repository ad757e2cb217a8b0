// Every text that the program shows, in each language, in one table (texts_table.h).
//
// Invariant, held by a test: each text is there in every language, with the same values, and the
// access keys of one menu or dialog differ. Cost: O(text).
#ifndef CLIENT_WIN_CORE_TEXT_TEXTS_H_
#define CLIENT_WIN_CORE_TEXT_TEXTS_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/text/texts_table.h"

namespace sprites {

enum class Language : uint8_t { kEnglish, kGerman };
constexpr size_t kLanguages = 2;

// The name of each text: kMenuQuit and so on.
enum class Text : uint16_t {
#define SPRITES_TEXT_NAME(name, english, german) name,
  SPRITES_TEXTS(SPRITES_TEXT_NAME)
#undef SPRITES_TEXT_NAME
};

// The text as it is in the table: UTF-8, `&` before an access key, {0} … {9} for values.
const char* TemplateOf(Language language, Text text);
// The name of a text in the source, for messages of tests.
const char* NameOf(Text text);
size_t TextCount();

// The text with its values. A value is inserted as it is, and never read as a template.
std::string Say(Language language, Text text, std::initializer_list<std::string_view> values = {});

// The language of a tag such as `de`, `de-AT` or `en_US`; English for any other.
Language LanguageOf(std::string_view tag);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_TEXT_TEXTS_H_
