// The rules that a relay shares with its desktops: those of wire/rules.ts, and the codes of
// wire/problem.ts. `npx node server/tools/rules.ts` writes this file; a test compares it.
#ifndef SERVER_WIRE_RULES_H_
#define SERVER_WIRE_RULES_H_

// clang-format off

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rules {

// The edges of a desktop, by their numbers. That of the opposite edge differs in the last bit.
enum class Edge : uint8_t { kLeft, kRight, kTop, kBottom };
inline constexpr std::array<std::string_view, 4> kEdgeNames = {"left", "right", "top", "bottom"};
constexpr std::string_view NameOf(Edge edge) { return kEdgeNames[static_cast<size_t>(edge)]; }
constexpr Edge Opposite(Edge edge) { return static_cast<Edge>(static_cast<unsigned>(edge) ^ 1U); }

// Units and reasons of the numbers are in wire/rules.ts.
inline constexpr double kRisingNumberMax = 9007199254740991;
inline constexpr size_t kNameBytesMax = 64;
inline constexpr size_t kAnimationLengthMax = 32;
inline constexpr size_t kFileDigits = 64;
inline constexpr size_t kSecretDigits = 32;
inline constexpr size_t kVersionLengthMax = 24;
inline constexpr double kScreenMax = 65535;
inline constexpr double kSpeedMax = 20000;
inline constexpr double kScaleMin = 0.25;
inline constexpr double kScaleMax = 16;
inline constexpr size_t kCompanyMax = 64;
inline constexpr size_t kGoalStepsMax = 16;
inline constexpr int64_t kSwapLeaseMs = 30000;
inline constexpr size_t kJourneyNamesMax = 4;
inline constexpr size_t kJourneyHopsMax = 1000000;
inline constexpr size_t kJourneyBytesMax = 200;
inline constexpr size_t kGoalBytesMax = 128;
inline constexpr size_t kCrossingBytesMax = 1024;
inline constexpr size_t kPassageBytesMax = 776;
inline constexpr size_t kCrossingsRemembered = 32;
inline constexpr size_t kSayingTextBytesMax = 280;
inline constexpr size_t kSayingBodyBytesMax = 1024;
inline constexpr int64_t kReactionGapMs = 500;
inline constexpr size_t kAnnouncementBytesMax = 400;
inline constexpr size_t kStageBytesMax = 2048;
inline constexpr size_t kStageSpritesMax = 32;
inline constexpr double kSpriteIdMax = 4294967295;
inline constexpr size_t kPeekBytesMax = 256;
inline constexpr size_t kJoinBytesMax = 2048;
inline constexpr size_t kJoinUrlBytesMax = 512;
inline constexpr size_t kReasonBytesMax = 200;
inline constexpr size_t kSprBytesMax = 1048576;
inline constexpr size_t kHeadBytesMax = 8192;
inline constexpr size_t kHeadersMax = 100;
inline constexpr size_t kEventsPerPollMax = 64;
inline constexpr size_t kPollBytesMax = 65536;
inline constexpr size_t kSayingsPerPollMax = 256;
inline constexpr size_t kSayingsBytesPerPollMax = 49152;
inline constexpr size_t kNoticesPerPollMax = 8;
inline constexpr size_t kResponseBytesMax = 131072;
inline constexpr size_t kAnswerEventsMax = 335;
inline constexpr size_t kMessagesPerSecondMax = 500;
inline constexpr size_t kMessagesBurstMax = 500;
inline constexpr size_t kPeeksPerSecondMax = 2;
inline constexpr int64_t kPeekLeaseMs = 10000;
inline constexpr int64_t kPeeksPerLease = 2;
inline constexpr size_t kStagesPerSecondMax = 10;
inline constexpr int64_t kStageRefreshMs = 2000;
inline constexpr int64_t kStageSilenceMs = 6000;
inline constexpr double kStageTolerancePx = 4;
inline constexpr size_t kMutesMax = 16;
inline constexpr size_t kReportsPerWindowMax = 10;
inline constexpr int64_t kLeaseMs = 30000;
inline constexpr int64_t kAwayMs = 5000;
inline constexpr int64_t kPausesPerLease = 2;
inline constexpr int64_t kLostLeases = 2;
inline constexpr int64_t kLeaseSecondsMin = 4;
inline constexpr int64_t kLeaseSecondsMax = 600;
inline constexpr int64_t kReconnectMsMax = 15000;
inline constexpr int64_t kAnswerMsMax = 10000;
inline constexpr int64_t kFirstPollMs = 10000;
inline constexpr int64_t kEndedRememberedMs = 600000;
inline constexpr int64_t kByeMsMax = 300000;
inline constexpr int64_t kPingMs = 120000;
inline constexpr double kPingJitter = 0.1;
inline constexpr int64_t kPingSecondsMin = 30;
inline constexpr int64_t kPingSecondsMax = 600;
inline constexpr double kSilenceFactor = 1.5;

// What a member must be. One with a default may be left out.
enum class Is : uint8_t { kNumber, kWhole, kRising, kEdge, kFile, kObject, kName, kAnimation, kFacing };
struct Member {
  std::string_view quoted;  // its name in JSON
  Is is;
  double min;  // of a number
  double max;
  bool is_required;
  std::string_view otherwise;  // its default in JSON, without quotes
};

// The sayings that are shown as reactions: a wave, a heart, a laugh.
inline constexpr std::array<std::string_view, 3> kReactions = {"👋", "💜", "😂"};

// The members of a crossing, in the order of a passage.
inline constexpr std::array<Member, 6> kCrossingMembers = {{
    {"\"crossing\"", Is::kRising, 0, 0, true, ""},
    {"\"edge\"", Is::kEdge, 0, 0, true, ""},
    {"\"at\"", Is::kNumber, 0, 1, true, ""},
    {"\"vx\"", Is::kNumber, -20000, 20000, true, ""},
    {"\"vy\"", Is::kNumber, -20000, 20000, true, ""},
    {"\"sprite\"", Is::kObject, 0, 0, true, ""},
}};

// The members of a crossing's sprite, likewise.
inline constexpr std::array<Member, 5> kSpriteMembers = {{
    {"\"file\"", Is::kFile, 0, 0, true, ""},
    {"\"name\"", Is::kName, 0, 0, false, ""},
    {"\"animation\"", Is::kAnimation, 0, 0, false, "fall"},
    {"\"facing\"", Is::kFacing, 0, 0, false, "right"},
    {"\"scale\"", Is::kNumber, 0.25, 16, false, "1"},
}};

// The texts of a passage: one before each of its values, and the end. The first value is the edge by
// which the sprite enters; those of kCrossingMembers after `edge` and of kSpriteMembers follow.
inline constexpr std::array<std::string_view, 10> kPassageTexts = {{
    "\"edge\":\"",
    "\",\"at\":",
    ",\"vx\":",
    ",\"vy\":",
    ",\"sprite\":{\"file\":\"",
    "\",\"name\":\"",
    "\",\"animation\":\"",
    "\",\"facing\":\"",
    "\",\"scale\":",
    "}}",
}};

// The codes of problems.
namespace codes {
inline constexpr std::string_view kMalformed = "malformed";
inline constexpr std::string_view kCursorAhead = "cursor-ahead";
inline constexpr std::string_view kSpriteInvalid = "sprite-invalid";
inline constexpr std::string_view kUnknownDesktop = "unknown-desktop";
inline constexpr std::string_view kAdminToken = "admin-token";
inline constexpr std::string_view kBanned = "banned";
inline constexpr std::string_view kPictureRefused = "picture-refused";
inline constexpr std::string_view kSayingsOff = "sayings-off";
inline constexpr std::string_view kStageHidden = "stage-hidden";
inline constexpr std::string_view kNotFound = "not-found";
inline constexpr std::string_view kNoNeighbour = "no-neighbour";
inline constexpr std::string_view kMethodNotAllowed = "method-not-allowed";
inline constexpr std::string_view kRequestTimeout = "request-timeout";
inline constexpr std::string_view kNearGone = "near-gone";
inline constexpr std::string_view kCrossingStale = "crossing-stale";
inline constexpr std::string_view kCrossingAhead = "crossing-ahead";
inline constexpr std::string_view kSayingStale = "saying-stale";
inline constexpr std::string_view kSwapGone = "swap-gone";
inline constexpr std::string_view kListFull = "list-full";
inline constexpr std::string_view kAlreadyRunning = "already-running";
inline constexpr std::string_view kHeapTooLarge = "heap-too-large";
inline constexpr std::string_view kDesktopEnded = "desktop-ended";
inline constexpr std::string_view kCursorLost = "cursor-lost";
inline constexpr std::string_view kTooLarge = "too-large";
inline constexpr std::string_view kRangeNotSatisfiable = "range-not-satisfiable";
inline constexpr std::string_view kTooFast = "too-fast";
inline constexpr std::string_view kTooManyJoins = "too-many-joins";
inline constexpr std::string_view kTooManyPlaces = "too-many-places";
inline constexpr std::string_view kTooManyWorlds = "too-many-worlds";
inline constexpr std::string_view kTooManyConnections = "too-many-connections";
inline constexpr std::string_view kTooManyUploads = "too-many-uploads";
inline constexpr std::string_view kHeadTooLarge = "head-too-large";
inline constexpr std::string_view kInternal = "internal";
inline constexpr std::string_view kMailboxFull = "mailbox-full";
inline constexpr std::string_view kRelayFull = "relay-full";
inline constexpr std::string_view kRelayBusy = "relay-busy";
inline constexpr std::string_view kDraining = "draining";
inline constexpr std::string_view kJournalFull = "journal-full";
inline constexpr std::string_view kStoreFull = "store-full";
}  // namespace codes

struct Problem {
  std::string_view code;
  int status;
};
inline constexpr std::array<Problem, 39> kProblems = {{
    {codes::kMalformed, 400},
    {codes::kCursorAhead, 400},
    {codes::kSpriteInvalid, 400},
    {codes::kUnknownDesktop, 401},
    {codes::kAdminToken, 401},
    {codes::kBanned, 403},
    {codes::kPictureRefused, 403},
    {codes::kSayingsOff, 403},
    {codes::kStageHidden, 403},
    {codes::kNotFound, 404},
    {codes::kNoNeighbour, 404},
    {codes::kMethodNotAllowed, 405},
    {codes::kRequestTimeout, 408},
    {codes::kNearGone, 409},
    {codes::kCrossingStale, 409},
    {codes::kCrossingAhead, 409},
    {codes::kSayingStale, 409},
    {codes::kSwapGone, 409},
    {codes::kListFull, 409},
    {codes::kAlreadyRunning, 409},
    {codes::kHeapTooLarge, 409},
    {codes::kDesktopEnded, 410},
    {codes::kCursorLost, 410},
    {codes::kTooLarge, 413},
    {codes::kRangeNotSatisfiable, 416},
    {codes::kTooFast, 429},
    {codes::kTooManyJoins, 429},
    {codes::kTooManyPlaces, 429},
    {codes::kTooManyWorlds, 429},
    {codes::kTooManyConnections, 429},
    {codes::kTooManyUploads, 429},
    {codes::kHeadTooLarge, 431},
    {codes::kInternal, 500},
    {codes::kMailboxFull, 503},
    {codes::kRelayFull, 503},
    {codes::kRelayBusy, 503},
    {codes::kDraining, 503},
    {codes::kJournalFull, 503},
    {codes::kStoreFull, 503},
}};

}  // namespace rules

// clang-format on

#endif  // SERVER_WIRE_RULES_H_
