#include "core/words/heard_list.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/text/text.h"

namespace sprites {

namespace {

// `text` in lines, broken at spaces where that is possible.
std::vector<std::string> Lines(std::string_view text, size_t letters) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    size_t bytes = BytesOfLetters(text, letters);
    const size_t space = text.substr(0, bytes).rfind(' ');
    if (bytes < text.size() && space != std::string_view::npos && space > 0) {
      bytes = space;
    }
    lines.emplace_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  return lines;
}

std::string MissedText(Language language, uint64_t missed) {
  return missed == 1 ? Say(language, Text::kHeardMissedOne)
                     : Say(language, Text::kHeardMissed, {std::to_string(missed)});
}

}  // namespace

std::vector<HeardRow> HeardRows(const Desktop& desktop, const TimeOfDay& time_of_day) {
  std::vector<HeardRow> rows;
  const Language language = desktop.language();
  for (const HeardLine& line : desktop.talk().conversation().history()) {
    HeardRow row;
    row.time = time_of_day(desktop.now_ms() - line.heard_ms);
    if (line.missed > 0) {
      row.what = MissedText(language, line.missed);
    } else {
      row.who = line.is_own ? Say(language, Text::kHeardYou) : line.saying.from.DisplayName();
      row.what = line.saying.text;
    }
    if (line.missed == 0 && !line.is_own) {
      row.speaker = line.saying.from;
      row.is_muted = desktop.guests().IsMuted(line.saying.from);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

MenuItem MuteItem(const Desktop& desktop, const HeardRow& row) {
  const Text text = row.is_muted ? Text::kHeardUnmute : Text::kHeardMute;
  const std::string name = NameInMenu(row.speaker->DisplayName());
  return {Say(desktop.language(), text, {name}),
          {MenuCommand::kMute, 0, *row.speaker, !row.is_muted}};
}

Menu HeardMenu(const Desktop& desktop, const TimeOfDay& time_of_day) {
  const std::vector<HeardRow> rows = HeardRows(desktop, time_of_day);
  Menu menu;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    MenuItem item{row->time + "  " + NameInMenu(row->who) + (row->who.empty() ? "" : ": ") +
                  WithoutKeys(Shortened(row->what, kHeardLettersMax))};
    if (row->speaker || row->what != Shortened(row->what, kHeardLettersMax)) {
      for (const std::string& line : Lines(row->what, kHeardLineLettersMax)) {
        item.children.push_back({WithoutKeys(line), {}, false});
      }
    }
    if (row->speaker) {
      item.children.push_back({});
      item.children.push_back(MuteItem(desktop, *row));
    }
    item.is_enabled = !item.children.empty();
    menu.push_back(std::move(item));
  }
  if (menu.empty()) {
    menu.push_back({Say(desktop.language(), Text::kHeardNothing), {}, false});
  }
  return menu;
}

}  // namespace sprites
