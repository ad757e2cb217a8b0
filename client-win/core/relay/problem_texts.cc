#include "core/relay/problem_texts.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace sprites {

namespace {

struct Meaning {
  std::string_view code;
  Text text;
};
constexpr Meaning kMeanings[] = {{codes::kMailboxFull, Text::kWhyMailboxFull},
                                 {codes::kTooFast, Text::kWhyTooFast},
                                 {codes::kPictureRefused, Text::kWhyPictureRefused},
                                 {codes::kRelayBusy, Text::kWhyRelayBusy},
                                 {codes::kJournalFull, Text::kWhyRelayBusy},
                                 {codes::kRelayFull, Text::kWhyRelayFull},
                                 {codes::kDraining, Text::kWhyDraining},
                                 {codes::kBanned, Text::kWhyBanned},
                                 {codes::kTooManyJoins, Text::kWhyTooManyHere},
                                 {codes::kTooManyPlaces, Text::kWhyTooManyHere},
                                 {codes::kTooManyWorlds, Text::kWhyTooManyHere},
                                 {codes::kTooManyConnections, Text::kWhyTooManyHere},
                                 {codes::kTooManyUploads, Text::kWhyTooFast},
                                 {codes::kStoreFull, Text::kWhyStoreFull},
                                 {codes::kCrossingAhead, Text::kWhyTooMany},
                                 {codes::kDesktopEnded, Text::kWhyNotConnected},
                                 {codes::kUnknownDesktop, Text::kWhyNotConnected},
                                 {codes::kNoNeighbour, Text::kToastPeekNobody},
                                 {"http-0", Text::kWhyUnreachable},
                                 {"not-understood", Text::kWhyNotUnderstood}};

constexpr Meaning kSayingMeanings[] = {
    {codes::kTooFast, Text::kSayTooFast},     {codes::kSayingsOff, Text::kSayOff},
    {codes::kMalformed, Text::kSayMalformed}, {codes::kTooLarge, Text::kSayMalformed},
    {codes::kRelayBusy, Text::kSayBusy},      {codes::kDraining, Text::kSayBusy},
    {codes::kSayingStale, Text::kSayLost},    {codes::kDesktopEnded, Text::kSayLost},
    {codes::kUnknownDesktop, Text::kSayLost}};

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

std::string SayUnreachable(Language language, CertificateFault fault, const std::string& host) {
  // In the order of CertificateFault.
  constexpr Text kWhy[] = {Text::kStatusUnreachable, Text::kStatusCertificateDate,
                           Text::kStatusCertificateName, Text::kStatusCertificateUnknown};
  return Say(language, kWhy[static_cast<size_t>(fault)], {host});
}

}  // namespace sprites
