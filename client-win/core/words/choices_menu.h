// The settings that have one of a few values, as submenus, for a shell that has no window for them.
//
// Invariant: each submenu has the present value, checked, even if it was written into the file by
// hand. Cost: O(values).
#ifndef CLIENT_WIN_CORE_WORDS_CHOICES_MENU_H_
#define CLIENT_WIN_CORE_WORDS_CHOICES_MENU_H_

#include <array>
#include <optional>

#include "core/words/menus.h"

namespace sprites {

constexpr std::array<int, 5> kOpacities = {kOpacityMin, 50, 70, 85, kOpacityMax};  // percent

// Whose pictures are shown, the size of sprites and their opacity, how many there may be, the
// language; first an entry that asks for the name.
Menu ChoicesMenu(const Desktop& desktop);

// The settings after a choice in that menu, or of a switch in any. Nothing for another choice.
std::optional<Settings> WithChoice(Settings settings, const MenuChoice& choice);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_WORDS_CHOICES_MENU_H_
