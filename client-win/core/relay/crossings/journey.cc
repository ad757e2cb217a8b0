#include "core/relay/crossings/journey.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/text/json.h"
#include "wire/rules.h"

namespace sprites {

namespace {

constexpr double kSinceMax = 4294967295;

bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= rules::kNameBytesMax;
}

// Leaves out those who threw it first, then who drew it, until it fits. The longest name alone
// does.
Journey Fitted(Journey journey) {
  const auto is_too_long = [&journey] {
    return WriteJson(JourneyToJson(journey)).size() > rules::kJourneyBytesMax;
  };
  while (journey.from.size() > 1 && is_too_long()) {
    journey.from.erase(journey.from.begin());
  }
  if (is_too_long()) {
    journey.by.clear();
  }
  return journey;
}

void KeepNewest(std::vector<std::string>* names) {
  if (names->size() > rules::kJourneyNamesMax) {
    names->erase(names->begin(), names->end() - std::ptrdiff_t{rules::kJourneyNamesMax});
  }
}

}  // namespace

Journey JourneyIn(const Json& value) {
  if (!MemberOf(value, "since").is_number() || NumberAt(value, "hops", 0, 1, 0) < 1) {
    return {};
  }
  Journey journey;
  journey.hops = static_cast<int64_t>(NumberAt(value, "hops", 1, rules::kJourneyHopsMax, 1));
  journey.since_s = static_cast<int64_t>(NumberAt(value, "since", 0, kSinceMax, 0));
  journey.by = TextAt(value, "by", rules::kNameBytesMax);
  const Json& names = MemberOf(value, "from");
  for (size_t i = 0; names.is_array() && i < names.size(); i++) {
    if (names[i].is_string() && IsName(names[i].get_ref<const std::string&>())) {
      journey.from.push_back(names[i].get<std::string>());
    }
  }
  KeepNewest(&journey.from);
  return Fitted(std::move(journey));
}

Json JourneyToJson(const Journey& journey) {
  return {{"hops", journey.hops},
          {"since", journey.since_s},
          {"by", journey.by},
          {"from", journey.from}};
}

Journey Travelled(const Journey& journey, const std::string& name, const std::string& author,
                  int64_t now_s) {
  Journey longer = journey;
  if (journey.hops == 0) {
    longer = {0, now_s, IsName(author) ? author : "", {}};
  }
  longer.hops = std::min<int64_t>(longer.hops + 1, rules::kJourneyHopsMax);
  if (!name.empty()) {
    longer.from.push_back(name);
  }
  KeepNewest(&longer.from);
  return Fitted(std::move(longer));
}

}  // namespace sprites
