#include "core/words/choices_menu.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace sprites {
namespace {

Desktop With(const Settings& settings) {
  return Desktop(settings, [] { return 0.5; });
}

TEST_CASE("choices menu › shows the present value of each setting, and changes only that one") {
  Settings settings;
  settings.name = "Ada";
  settings.accept = Accept::kFriends;
  settings.scale = 1.5;
  settings.opacity = 70;
  settings.sprite_limit = 50;
  settings.language = LanguageChoice::kGerman;
  const Desktop desktop = With(settings);
  size_t submenus = 0;
  for (const MenuItem& entry : ChoicesMenu(desktop)) {
    if (entry.children.empty()) {
      CHECK(entry.choice.command == MenuCommand::kName);
      CHECK(entry.text == "Ihr &Name…");
      continue;
    }
    CAPTURE(entry.text);
    submenus++;
    CHECK(std::ranges::count_if(entry.children, &MenuItem::is_checked) == 1);
    for (const MenuItem& item : entry.children) {
      const auto changed = WithChoice(settings, item.choice);
      REQUIRE(changed);
      CHECK((*changed == settings) == item.is_checked);
      CHECK(WithinLimits(*changed) == *changed);
      // Shown again, it is the one that is checked.
      for (const MenuItem& later : ChoicesMenu(With(*changed))) {
        for (const MenuItem& other : later.children) {
          if (other.choice.command == item.choice.command) {
            CHECK(other.is_checked == (other.choice.index == item.choice.index));
          }
        }
      }
    }
  }
  CHECK(submenus == 5);
}

TEST_CASE("choices menu › lists a value that was written into the file by hand, in order") {
  Settings settings;
  settings.scale = 1.1;
  settings.sprite_limit = 7;
  const Desktop desktop = With(settings);
  const Menu menu = ChoicesMenu(desktop);
  const auto texts_of = [&](MenuCommand command) {
    std::string texts;
    for (const MenuItem& entry : menu) {
      for (const MenuItem& item : entry.children) {
        texts += item.choice.command != command ? "" : item.text + (item.is_checked ? "* " : " ");
      }
    }
    return texts;
  };
  CHECK(texts_of(MenuCommand::kScale) == "50 % 75 % 100 % 110 %* 150 % 200 % 300 % 400 % ");
  CHECK(texts_of(MenuCommand::kLimit) == "5 7* 20 50 100 150 300 ");
}

TEST_CASE("choices menu › ignores what was chosen in another menu") {
  for (const MenuCommand command :
       {MenuCommand::kNone, MenuCommand::kName, MenuCommand::kVolume, MenuCommand::kQuit}) {
    CHECK(!WithChoice(Settings{}, {command, 1}));
  }
}

}  // namespace
}  // namespace sprites
