// The list of what was said, as a shell shows it: a row for each line of the history.
//
// Cost: O(lines × muted names).
#ifndef CLIENT_WIN_CORE_WORDS_HEARD_LIST_H_
#define CLIENT_WIN_CORE_WORDS_HEARD_LIST_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/desktop/desktop.h"
#include "core/words/menus.h"

namespace sprites {

constexpr size_t kHeardLettersMax = 44;      // of a text in a row of the menu
constexpr size_t kHeardLineLettersMax = 60;  // of a line in the submenu that has the whole text

struct HeardRow {
  std::string time;  // of day, such as 14:05
  std::string who;   // empty for missed sayings
  std::string what;
  std::optional<Neighbour> speaker;  // who can be muted: another desktop
  bool is_muted = false;
};

// The local time of day, so many ms ago.
using TimeOfDay = std::function<std::string(int64_t ms_ago)>;

// Oldest first. Empty when nothing was said.
std::vector<HeardRow> HeardRows(const Desktop& desktop, const TimeOfDay& time_of_day);

// What the entry that mutes the speaker of a row, or ends the mute, is called and does.
// REQUIRES: row.speaker.
MenuItem MuteItem(const Desktop& desktop, const HeardRow& row);

// The rows as a menu, for a shell that has no window for them. The newest is first, because a menu
// opens at its first row. Each has a submenu with the whole text, and mutes its speaker.
Menu HeardMenu(const Desktop& desktop, const TimeOfDay& time_of_day);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_WORDS_HEARD_LIST_H_
