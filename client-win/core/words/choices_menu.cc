#include "core/words/choices_menu.h"

#include <cmath>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>

namespace sprites {

namespace {

constexpr Text kAcceptTexts[] = {Text::kSettingsAcceptOwn, Text::kSettingsAcceptFriends,
                                 Text::kSettingsAcceptAll};
// In the order of LanguageChoice. The name of a language is in that language.
constexpr const char* kLanguageTexts[] = {"", "English", "Deutsch"};
constexpr int kPercent = 100;

// A submenu of numbers, with the present one among them.
MenuItem NumbersMenu(std::string title, MenuCommand command, std::set<int> numbers, int present,
                     const char* unit) {
  MenuItem menu{std::move(title)};
  numbers.insert(present);
  for (const int number : numbers) {
    menu.children.push_back(Toggle(std::to_string(number) + unit,
                                   {command, static_cast<size_t>(number)}, number == present));
  }
  return menu;
}

}  // namespace

Menu ChoicesMenu(const Desktop& desktop) {
  const Settings& settings = desktop.settings();
  const auto said = [&](Text text) { return Say(desktop.language(), text); };
  MenuItem accept{said(Text::kSettingsAccept)};
  for (size_t i = 0; i < std::size(kAcceptTexts); i++) {
    accept.children.push_back(Toggle(WithoutKeys(said(kAcceptTexts[i])), {MenuCommand::kAccept, i},
                                     settings.accept == static_cast<Accept>(i)));
  }
  MenuItem language{said(Text::kSettingsLanguage)};
  for (size_t i = 0; i < std::size(kLanguageTexts); i++) {
    language.children.push_back(
        Toggle(i == 0 ? said(Text::kSettingsLanguageSystemLinux) : kLanguageTexts[i],
               {MenuCommand::kLanguage, i}, settings.language == static_cast<LanguageChoice>(i)));
  }
  const int percent = static_cast<int>(std::lround(settings.scale * kPercent));
  return {{said(Text::kSettingsName) + "…", {MenuCommand::kName}},
          std::move(accept),
          NumbersMenu(said(Text::kSettingsScale), MenuCommand::kScale,
                      {50, 75, 100, 150, 200, 300, 400}, percent, " %"),
          NumbersMenu(said(Text::kSettingsOpacity), MenuCommand::kOpacity,
                      {kOpacities.begin(), kOpacities.end()}, settings.opacity, " %"),
          NumbersMenu(said(Text::kSettingsLimit), MenuCommand::kLimit, {5, 20, 50, 100, 150, 300},
                      settings.sprite_limit, ""),
          std::move(language)};
}

std::optional<Settings> WithChoice(Settings settings, const MenuChoice& choice) {
  switch (choice.command) {
    case MenuCommand::kSwitch:
      settings.*choice.member = choice.is_on;
      return settings;
    case MenuCommand::kAccept:
      settings.accept = static_cast<Accept>(choice.index);
      return settings;
    case MenuCommand::kScale:
      settings.scale = static_cast<double>(choice.index) / kPercent;
      return settings;
    case MenuCommand::kOpacity:
      settings.opacity = static_cast<int>(choice.index);
      return settings;
    case MenuCommand::kLimit:
      settings.sprite_limit = static_cast<int>(choice.index);
      return settings;
    case MenuCommand::kLanguage:
      settings.language = static_cast<LanguageChoice>(choice.index);
      return settings;
    default:
      return std::nullopt;
  }
}

}  // namespace sprites
