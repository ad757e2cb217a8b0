// The menus of the program: what is in them, in the order and the words that a shell shows.
//
// A menu is built each time it opens, so it never shows an old state. A text has `&` before its
// access key, and `&&` for an ampersand. Cost: O(shelf + neighbours).
#ifndef CLIENT_WIN_CORE_WORDS_MENUS_H_
#define CLIENT_WIN_CORE_WORDS_MENUS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/desktop/desktop.h"

namespace sprites {

constexpr size_t kMenuNameLettersMax = 24;  // of a neighbour's name: keeps a menu narrow

enum class MenuCommand : uint8_t {
  kNone,    // the menu was closed without a choice
  kDropIn,  // `index` on the shelf
  kInvite,
  kPhotograph,
  kAnimation,
  kOpenLink,
  kSay,
  kReact,  // `index` in rules::kReactions
  kHeard,
  kCompany,
  kAskForSeat,     // `neighbour` has the name, of Desktop::company()
  kAnswerForSeat,  // `is_on`
  kPeek,           // `index` is the Edge, `is_on`
  kShowStage,      // `is_on`
  kMute,           // `neighbour`, `is_on`
  kSendAllOn,
  kPause,    // `is_on`
  kHideAll,  // `is_on`
  kSettings,
  kSwitch,  // the `member` of the settings, `is_on`
  kVolume,  // `index` is the percent
  kOpenSounds,
  kName,
  kAccept,    // `index` is the Accept
  kScale,     // `index` is the percent
  kOpacity,   // likewise
  kLimit,     // `index` is the number of sprites
  kLanguage,  // `index` is the LanguageChoice
  kShowHidden,
  kHowToPlay,
  kDiagnostics,
  kUpdate,
  kAbout,
  kQuit,
  kThrow,          // `index` is the Edge
  kThrowToFriend,  // `neighbour` has the name, of Desktop::company()
  kSteer,
  kLightPotato,
  kPutAway,
  kSwapPicture,
  kHide,
  kReport,
};

// The entry of a menu that the person chose.
struct MenuChoice {
  MenuCommand command = MenuCommand::kNone;
  size_t index = 0;
  Neighbour neighbour{};
  bool is_on = false;
  SpriteId sprite = kNobody;  // of the list of sprites: the one to do it with
  bool Settings::*member = nullptr;
};

struct MenuItem {
  std::string text;  // UTF-8; empty for a line between two groups
  MenuChoice choice{};
  bool is_enabled = true;
  bool is_checked = false;
  std::vector<MenuItem> children{};  // of a submenu
  SheetPointer picture{};            // beside the text: the character it names

  bool IsLine() const { return text.empty(); }
};
using Menu = std::vector<MenuItem>;

// An entry that turns something on or off, or that chooses one of several values; it is checked
// while that is so.
inline MenuItem Toggle(std::string text, MenuChoice choice, bool is_on) {
  choice.is_on = !is_on;
  return {std::move(text), std::move(choice), true, is_on};
}

// The menu of the program. It lists the sprites with their menus, for those who use the keyboard or
// a screen reader.
Menu ProgramMenu(const Desktop& desktop);
// The menu of a sprite.
Menu SpriteMenu(const Desktop& desktop, const Sprite& sprite);
// What a right click on a sprite opens: its menu, and that of the program below it without the list
// of sprites, because an icon by the clock may be hidden.
Menu MenuOver(const Desktop& desktop, const Sprite& sprite, Menu program);
// The settings as a menu, for a shell that has no window for them. `has_sound`: this machine can
// play sounds; if not, the menu says so.
Menu SettingsMenu(const Desktop& desktop, bool has_sound);

// Carries out a choice that only concerns the desktop. Returns false for any other choice, which
// the shell carries out.
bool CarryOut(const MenuChoice& choice, Desktop* desktop);

// The words of a menu for a text from somebody else, which has no access key.
std::string WithoutKeys(std::string_view text);
// A name as it is in a menu: not longer than a menu is wide.
std::string NameInMenu(const std::string& name);

// One line about the connection to the relay.
std::string StatusOf(const Desktop& desktop);
// Likewise, with the name that others see.
std::string TooltipOf(const Desktop& desktop);
// The name that others see: the person's choice, or the relay's.
std::string OwnName(const Desktop& desktop);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_WORDS_MENUS_H_
