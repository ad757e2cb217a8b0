#include "core/relay/problem_texts.h"

#include <algorithm>
#include <iterator>

namespace sprites {

namespace {

struct Meaning {
  const char* code;
  Text text;
};
constexpr Meaning kMeanings[] = {{"mailbox-full", Text::kWhyMailboxFull},
                                 {"too-fast", Text::kWhyTooFast},
                                 {"picture-refused", Text::kWhyPictureRefused},
                                 {"relay-busy", Text::kWhyRelayBusy},
                                 {"journal-full", Text::kWhyRelayBusy},
                                 {"relay-full", Text::kWhyRelayFull},
                                 {"draining", Text::kWhyDraining},
                                 {"banned", Text::kWhyBanned},
                                 {"too-many-joins", Text::kWhyTooManyHere},
                                 {"too-many-places", Text::kWhyTooManyHere},
                                 {"too-many-worlds", Text::kWhyTooManyHere},
                                 {"too-many-connections", Text::kWhyTooManyHere},
                                 {"too-many-uploads", Text::kWhyTooFast},
                                 {"store-full", Text::kWhyStoreFull},
                                 {"http-0", Text::kWhyUnreachable},
                                 {"not-understood", Text::kWhyNotUnderstood}};

constexpr Meaning kSayingMeanings[] = {
    {"too-fast", Text::kSayTooFast},    {"sayings-off", Text::kSayOff},
    {"malformed", Text::kSayMalformed}, {"too-large", Text::kSayMalformed},
    {"relay-busy", Text::kSayBusy},     {"draining", Text::kSayBusy},
    {"saying-stale", Text::kSayLost}};

}  // namespace

std::string SaySayingProblem(Language language, const Problem& problem) {
  const auto* found = std::ranges::find_if(
      kSayingMeanings, [&problem](const Meaning& meaning) { return problem.code == meaning.code; });
  return found == std::end(kSayingMeanings) ? SayProblem(language, problem)
                                            : Say(language, found->text);
}

std::string SayProblem(Language language, const Problem& problem) {
  const auto* found = std::ranges::find_if(
      kMeanings, [&problem](const Meaning& meaning) { return problem.code == meaning.code; });
  return found == std::end(kMeanings) ? problem.title : Say(language, found->text);
}

}  // namespace sprites
