#include "core/desktop/journey_words.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "core/text/text.h"
#include "wire/rules.h"

namespace sprites {

namespace {

constexpr int kWeekDays = 6;  // for which the name of a day means the last one of that name
constexpr Text kDays[] = {Text::kSunday,   Text::kMonday, Text::kTuesday, Text::kWednesday,
                          Text::kThursday, Text::kFriday, Text::kSaturday};

// The names from `first` on, each once.
std::string Names(const std::vector<std::string>& names, size_t first) {
  std::vector<std::string> seen;
  std::string all;
  for (size_t i = first; i < names.size(); i++) {
    if (std::ranges::find(seen, names[i]) == seen.end()) {
      seen.push_back(names[i]);
      all += (all.empty() ? "" : ", ") + PlainText(names[i], rules::kNameBytesMax);
    }
  }
  return all;
}

// The day of a time: today, its name, or its date. A clock that is ahead of this one's means today.
std::string DayOf(Language language, int64_t since_s, const WallClock& clock) {
  using std::chrono::floor, std::chrono::days, std::chrono::seconds, std::chrono::sys_seconds;
  const auto day_of = [](int64_t local_s) { return floor<days>(sys_seconds(seconds(local_s))); };
  const auto then = day_of(since_s + clock.local_s - clock.unix_s);
  const auto ago = day_of(clock.local_s) - then;
  if (ago <= days(0)) {
    return Say(language, Text::kJourneyToday);
  }
  if (ago <= days(kWeekDays)) {
    return Say(language, kDays[std::chrono::weekday(then).c_encoding()]);
  }
  const std::chrono::year_month_day date(then);
  char text[16];
  snprintf(text, sizeof(text), "%04d-%02u-%02u", static_cast<int>(date.year()),
           static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text;
}

// How many desktops, and since when.
std::string DesktopsOf(Language language, const Journey& journey, const WallClock& clock) {
  const std::string day = DayOf(language, journey.since_s, clock);
  return journey.hops == 1 ? Say(language, Text::kJourneyOne, {day})
                           : Say(language, Text::kJourneyMany, {std::to_string(journey.hops), day});
}

}  // namespace

std::string JourneyWords(Language language, const Journey& journey, const WallClock& clock) {
  const std::string desktops = DesktopsOf(language, journey, clock);
  if (journey.from.empty()) {
    return desktops;
  }
  // The oldest name is that of who threw it first only if nobody after that is left out.
  if (journey.hops != static_cast<int64_t>(journey.from.size())) {
    return Say(language, Text::kJourneyByWay, {desktops, Names(journey.from, 0)});
  }
  const std::string origin = PlainText(journey.from.front(), rules::kNameBytesMax);
  return journey.from.size() == 1
             ? Say(language, Text::kJourneyFrom, {desktops, origin})
             : Say(language, Text::kJourneyFromByWay, {desktops, origin, Names(journey.from, 1)});
}

std::string TellJourney(Language language, const std::string& name, const Journey& journey,
                        const WallClock& clock) {
  const std::string by = PlainText(journey.by, rules::kNameBytesMax);
  return (by.empty() ? name : Say(language, Text::kJourneyDrawnBy, {name, by})) + ", " +
         JourneyWords(language, journey, clock);
}

std::string HomeWords(Language language, const std::string& name, const Journey& journey,
                      const WallClock& clock) {
  return Say(language, Text::kAwayHome, {name, DesktopsOf(language, journey, clock)});
}

std::string SeenWords(Language language, const AwaySprite& sprite, const WallClock& clock) {
  constexpr int64_t kDayS = 86'400;
  const int64_t local_s = sprite.seen_s + clock.local_s - clock.unix_s;
  std::string when = DayOf(language, sprite.seen_s, clock);
  if (local_s / kDayS == clock.local_s / kDayS) {
    char time[8];
    const int minutes = static_cast<int>(local_s % kDayS / 60);
    snprintf(time, sizeof(time), "%d:%02d", minutes / 60, minutes % 60);
    when = time;
  }
  const std::string with = PlainText(sprite.with, rules::kNameBytesMax);
  return with.empty() ? Say(language, Text::kAwayUnknown, {sprite.name, when})
                      : Say(language, Text::kAwayWith, {sprite.name, with, when});
}

}  // namespace sprites
