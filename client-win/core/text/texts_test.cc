#include "core/text/texts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "core/text/refused.h"
#include "core/text/text.h"

namespace sprites {
namespace {

constexpr Language kAll[] = {Language::kEnglish, Language::kGerman};

// The values that a text uses, such as "01".
std::string ValuesOf(std::string_view text) {
  std::set<char> values;
  for (size_t i = 0; i + 2 < text.size(); i++) {
    if (text[i] == '{' && text[i + 2] == '}') {
      values.insert(text[i + 1]);
    }
  }
  return {values.begin(), values.end()};
}

TEST_CASE("texts › are there in every language, with the same values and at most one access key") {
  for (size_t i = 0; i < TextCount(); i++) {
    const auto text = static_cast<Text>(i);
    CAPTURE(NameOf(text));
    const std::string english = TemplateOf(Language::kEnglish, text);
    for (const Language language : kAll) {
      const std::string said = TemplateOf(language, text);
      CAPTURE(said);
      CHECK(!said.empty());
      CHECK(ValuesOf(said) == ValuesOf(english));
      CHECK(std::ranges::count(said, '&') == std::ranges::count(english, '&'));
      CHECK(std::ranges::count(said, '&') <= 1);
      CHECK(!said.ends_with('&'));
      std::string line = said;
      std::erase(line, '\n');
      CHECK(IsPlainText(line));
      CHECK(said.ends_with("…") == english.ends_with("…"));
    }
  }
}

TEST_CASE("texts › access keys differ within a menu or a dialog") {
  for (const Language language : kAll) {
    for (const std::string group :
         {"kMenu", "kHelp", "kEdge", "kSprite", "kLink", "kSettings", "kReport", "kSay", "kHeard",
          "kCompany", "kCamera", "kAskClose", "kAskMove", "kAskTake", "kAskUpdate"}) {
      std::map<char, std::string> keys;
      for (size_t i = 0; i < TextCount(); i++) {
        const std::string name = NameOf(static_cast<Text>(i));
        const std::string said = TemplateOf(language, static_cast<Text>(i));
        const size_t mark = said.find('&');
        // "Left" and "Left: Anna" are never in one menu.
        if (!name.starts_with(group) || mark == std::string::npos || name.ends_with("To")) {
          continue;
        }
        const char key = static_cast<char>(said[mark + 1] | 0x20);
        CAPTURE(name);
        CAPTURE(said);
        CHECK(static_cast<unsigned char>(said[mark + 1]) < 0x80);
        CHECK(keys[key] == "");
        keys[key] = name;
      }
    }
  }
}

TEST_CASE("texts › insert values as they are, and keep what has no value") {
  CHECK(Say(Language::kEnglish, Text::kSpriteFrom, {"Miso", "Anna"}) == "Miso, from Anna");
  CHECK(Say(Language::kGerman, Text::kSpriteFrom, {"Miso", "Anna"}) == "Miso, von Anna");
  CHECK(Say(Language::kEnglish, Text::kSpriteFrom, {"{1}", "{0}"}) == "{1}, from {0}");
  CHECK(Say(Language::kEnglish, Text::kSpriteFrom, {"Miso"}) == "Miso, from {1}");
  CHECK(Say(Language::kEnglish, Text::kSpriteFrom, {"", ""}) == ", from ");
}

TEST_CASE("texts › every reason why a file is rejected is a sentence in each language") {
  size_t reasons = 0;
  for (size_t i = 0; i < TextCount(); i++) {
    const auto text = static_cast<Text>(i);
    const std::string name = NameOf(text);
    if (!name.starts_with("kImport") && !name.starts_with("kPhotograph") &&
        !name.starts_with("kPicture") && !name.starts_with("kSheet") &&
        !name.starts_with("kSound") && !name.starts_with("kFileO")) {
      continue;
    }
    CAPTURE(name);
    reasons++;
    const std::string english = TemplateOf(Language::kEnglish, text);
    CHECK(english.ends_with('.'));
    CHECK(english.find('&') == std::string::npos);
    const Reason reason{text, {"1", "2", "3", "4"}};
    CHECK(Refused(text, reason.values).what() == Say(Language::kEnglish, reason));
    const std::string german = Say(Language::kGerman, reason);
    CHECK(german.ends_with('.'));
    CHECK(german != Say(Language::kEnglish, reason));
  }
  CHECK(reasons > 50);
}

TEST_CASE("texts › the language follows a tag, and is English for unknown ones") {
  for (const char* tag : {"de", "DE", "de-AT", "de_CH", "de-DE"}) {
    CAPTURE(tag);
    CHECK(LanguageOf(tag) == Language::kGerman);
  }
  for (const char* tag : {"", "d", "en", "en-GB", "den", "del-DE", "fr", "zh-Hans"}) {
    CAPTURE(tag);
    CHECK(LanguageOf(tag) == Language::kEnglish);
  }
}

}  // namespace
}  // namespace sprites
