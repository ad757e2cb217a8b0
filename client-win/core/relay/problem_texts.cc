#include "core/relay/problem_texts.h"

#include <algorithm>
#include <span>

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
                                 {"crossing-ahead", Text::kWhyTooMany},
                                 {"desktop-ended", Text::kWhyNotConnected},
                                 {"unknown-desktop", Text::kWhyNotConnected},
                                 {"no-neighbour", Text::kToastPeekNobody},
                                 {"http-0", Text::kWhyUnreachable},
                                 {"not-understood", Text::kWhyNotUnderstood}};

constexpr Meaning kSayingMeanings[] = {
    {"too-fast", Text::kSayTooFast},    {"sayings-off", Text::kSayOff},
    {"malformed", Text::kSayMalformed}, {"too-large", Text::kSayMalformed},
    {"relay-busy", Text::kSayBusy},     {"draining", Text::kSayBusy},
    {"saying-stale", Text::kSayLost},   {"desktop-ended", Text::kSayLost},
    {"unknown-desktop", Text::kSayLost}};

// Null if the code of the problem is not in the list.
const Meaning* MeaningOf(const Problem& problem, std::span<const Meaning> meanings) {
  const auto found = std::ranges::find_if(
      meanings, [&problem](const Meaning& meaning) { return problem.code == meaning.code; });
  return found == meanings.end() ? nullptr : &*found;
}

}  // namespace

std::string SaySayingProblem(Language language, const Problem& problem) {
  const Meaning* meaning = MeaningOf(problem, kSayingMeanings);
  return meaning == nullptr ? SayProblem(language, problem) : Say(language, meaning->text);
}

std::string SayProblem(Language language, const Problem& problem) {
  const Meaning* meaning = MeaningOf(problem, kMeanings);
  return meaning == nullptr ? problem.title : Say(language, meaning->text);
}

}  // namespace sprites
