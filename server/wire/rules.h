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

// The largest number of a crossing or a saying: the largest whole number that JSON carries exactly.
inline constexpr double kRisingNumberMax = 9007199254740991;
// A name in bytes of UTF-8: two lines of a name tag; 16 characters of the scripts that need the
// most bytes.
inline constexpr size_t kNameBytesMax = 64;
// Characters of an animation's name.
inline constexpr size_t kAnimationLengthMax = 32;
// Lowercase hexadecimal digits of a .spr file's SHA-256.
inline constexpr size_t kFileDigits = 64;
// Lowercase hexadecimal digits of the secret in a token, and of that in an invitation: 128 random
// bits.
inline constexpr size_t kSecretDigits = 32;
// Characters of a program's version: `1.10.3-rc.1+5` has 13.
inline constexpr size_t kVersionLengthMax = 24;
// A side of a screen in device-independent px: several monitors side by side; a larger value is an
// error.
inline constexpr double kScreenMax = 65535;
// Speed along one axis in device-independent px/s: a 4K screen crossed in a fifth of a second.
inline constexpr double kSpeedMax = 20000;
// Scale of a sprite's pixels: from a quarter up to 16, at which 64 px become 1024 px.
inline constexpr double kScaleMin = 0.25;
inline constexpr double kScaleMax = 16;
// Desktops of a private world that are told who is there: a party. Their names fit on a page and in
// one small answer.
inline constexpr size_t kCompanyMax = 64;
// Columns, and rows, to a goal: in a world of COMPANY_MAX desktops nobody is farther away, whatever
// its width (a test tries all).
inline constexpr size_t kGoalStepsMax = 16;
// How long a desktop that is asked to change places may answer, in ms: to see the question, read it
// and think. Silence is a no.
inline constexpr int64_t kSwapLeaseMs = 30000;
// Names of a journey: those who threw the sprite last.
inline constexpr size_t kJourneyNamesMax = 4;
// Desktops of a journey: a sprite that is thrown once a minute has been on as many after two years.
inline constexpr size_t kJourneyHopsMax = 1000000;
// A journey as JSON, in bytes: five names of 30. A client leaves out those who threw the sprite
// first, until it fits.
inline constexpr size_t kJourneyBytesMax = 200;
// A goal as JSON, in bytes: the longest name with nearly half of it escaped.
inline constexpr size_t kGoalBytesMax = 128;
// Body of a crossing in bytes: five times what a browser sends, and small enough to buffer without
// further checks.
inline constexpr size_t kCrossingBytesMax = 1024;
// A passage in bytes: more than all its members at their longest (each of the 64 bytes of a
// sprite's name may need an escape).
inline constexpr size_t kPassageBytesMax = 776;
// How many numbers below the newest crossing are remembered, one bit each, so that crossings may
// arrive out of order. A client sends no number that is as far above its oldest one without an
// answer, so that the repeat of that one is remembered, with one number to spare.
inline constexpr size_t kCrossingsRemembered = 32;
// Text of a saying in bytes of UTF-8: three or four lines of a speech bubble.
inline constexpr size_t kSayingTextBytesMax = 280;
// Body of a saying in bytes, as of a crossing: its text with half of it escaped.
inline constexpr size_t kSayingBodyBytesMax = 1024;
// Between two reactions of a desktop, in ms: a relay accepts two sayings a second, so no reaction
// comes too fast.
inline constexpr int64_t kReactionGapMs = 500;
// Bytes of an announcement in UTF-8: two lines on a page. As JSON it has at most twice as many,
// which fit into a notice.
inline constexpr size_t kAnnouncementBytesMax = 400;
// Body of a stage in bytes, and its JSON as it is sent on: 32 sprites that stand, or twenty that
// walk.
inline constexpr size_t kStageBytesMax = 2048;
// Sprites of a stage, and its pictures: more than fit side by side near an edge.
inline constexpr size_t kStageSpritesMax = 32;
// The largest id of a stage's sprite: what fits in 32 bits.
inline constexpr double kSpriteIdMax = 4294967295;
// The body of a peek, and that of the switch, in bytes: ten times what they need.
inline constexpr size_t kPeekBytesMax = 256;
// Body of a join in bytes.
inline constexpr size_t kJoinBytesMax = 2048;
// The URL to which a `bye` sends desktops, in bytes of ASCII that JSON does not escape: far longer
// than a host and a port.
inline constexpr size_t kJoinUrlBytesMax = 512;
// Bytes of a report's reason in UTF-8: a sentence or two.
inline constexpr size_t kReasonBytesMax = 200;
// Bytes of a .spr file: a hundred times what a character of 32 × 32 px needs.
inline constexpr size_t kSprBytesMax = 1048576;
// The request line and headers together, in bytes: four times what a browser sends.
inline constexpr size_t kHeadBytesMax = 8192;
// Headers of one request: four times what a browser sends. A head of one-letter headers costs more
// to parse than a long one.
inline constexpr size_t kHeadersMax = 100;
// Sprites in one answer: as many as a desktop can show in one frame of animation. The next poll
// gets more at once.
inline constexpr size_t kEventsPerPollMax = 64;
// Bytes of sprites in one answer: one socket buffer, so that one send() transmits all of it.
inline constexpr size_t kPollBytesMax = 65536;
// Sayings in one answer: more than twice what a full world says between two answers when everybody
// speaks every second.
inline constexpr size_t kSayingsPerPollMax = 256;
// Bytes of sayings in one answer; the next one has the rest.
inline constexpr size_t kSayingsBytesPerPollMax = 49152;
// Notices (pictures that were removed, announcements) in one answer; the next answer has more.
inline constexpr size_t kNoticesPerPollMax = 8;
// Bytes of one answer with all that it may have, and of the longest that clients read.
inline constexpr size_t kResponseBytesMax = 131072;
// Events of all types in one answer.
inline constexpr size_t kAnswerEventsMax = 335;
// The sustained rate of messages of one socket: 100 throws and a poll after each sprite of four
// busy neighbours. A burst of MESSAGES_BURST_MAX may come at once.
inline constexpr size_t kMessagesPerSecondMax = 500;
inline constexpr size_t kMessagesBurstMax = 500;
// The sustained rate of peeks of one desktop: a pointer that wanders along its edges.
inline constexpr size_t kPeeksPerSecondMax = 2;
// How long a watcher that does not renew its peek still watches, in ms. After that the watched
// desktop stops posting for a watcher that has gone.
inline constexpr int64_t kPeekLeaseMs = 10000;
// Peeks that a client sends in such a lease: it renews the lease when half of it is over.
inline constexpr int64_t kPeeksPerLease = 2;
// The sustained rate of stages of one desktop: what lies between is drawn by prediction, as clients
// do between any two stages.
inline constexpr size_t kStagesPerSecondMax = 10;
// A stage is forwarded when the previous one is this old, in ms, even if watchers could have
// predicted it: it is the sign that the desktop is still there. Clients post one as often.
inline constexpr int64_t kStageRefreshMs = 2000;
// How long clients show silhouettes without a new stage, in ms: two of three may be lost.
inline constexpr int64_t kStageSilenceMs = 6000;
// How far a sprite may be from where a watcher expects it, in px along each axis, before its stage
// is forwarded. A walking sprite makes 6 px between two stages, so a silhouette never jumps by a
// step; 50 ms of jitter on the way move it by 3 px.
inline constexpr double kStageTolerancePx = 4;
// Mutes of one desktop: a desktop has four neighbours at a time; these are four changes of all of
// them.
inline constexpr size_t kMutesMax = 16;
// Reports that the desktops of one IPv4 address, or of one IPv6 /64, may send in a minute: a class
// behind one address.
inline constexpr size_t kReportsPerWindowMax = 10;
// The lease: how long a desktop without a parked poll stays, in ms. The answer to a join has it,
// and clients obey that.
inline constexpr int64_t kLeaseMs = 30000;
// A desktop without a poll for longer than this, in ms, is away: far more than one that has read an
// answer needs to poll again.
inline constexpr int64_t kAwayMs = 5000;
// Pauses between polls that a lease has room for, the longest ones: one lost poll must not end a
// desktop, and it must find a relay that was started again before its lease ends.
inline constexpr int64_t kPausesPerLease = 2;
// Leases without an answer after which a relay counts as gone: the desktop has ended by then, and a
// relay that is only restarted is back.
inline constexpr int64_t kLostLeases = 2;
// The leases that a desktop believes a relay, in s. At the minimum it asks every second or two,
// whatever a relay says, and at the maximum after BYE_MS_MAX.
inline constexpr int64_t kLeaseSecondsMin = 4;
inline constexpr int64_t kLeaseSecondsMax = 600;
// The longest time after which a client polls again after an answer or a broken connection.
inline constexpr int64_t kReconnectMsMax = 15000;
// How long a client waits for the answer to a request that the relay does not hold, in ms. After
// that it sends it again.
inline constexpr int64_t kAnswerMsMax = 10000;
// The lease of a newcomer that has never polled. A client polls at once when it has joined, with
// two round trips to spare; one that does not is a ghost, and the sprites thrown to it wait for
// nobody.
inline constexpr int64_t kFirstPollMs = 10000;
// How long the accepted crossings of a desktop that has ended are remembered: longer than a client
// that lost its connection throws the same number again.
inline constexpr int64_t kEndedRememberedMs = 600000;
// The longest wait that `bye` asks for. Clients wait for no longer. From 3.3 million desktops on,
// it is reached.
inline constexpr int64_t kByeMsMax = 300000;
// A parked poll is answered with a ping after this by default, ± the jitter. Common proxies cut
// idle connections after 150 s. A ping costs one answer and one poll: with two million desktops
// they cost more than 5,000 sprites a second.
inline constexpr int64_t kPingMs = 120000;
// The jitter, as a share of the time until a ping, in each direction: it spreads the pings of
// desktops that joined together.
inline constexpr double kPingJitter = 0.1;
// The bounds of --ping-seconds. At the minimum, the pings of 100,000 desktops cost less than a
// tenth of a core; beyond the maximum, most routers cut connections.
inline constexpr int64_t kPingSecondsMin = 30;
inline constexpr int64_t kPingSecondsMax = 600;
// After so many times `pingSeconds` without an answer, a client takes its connection to be dead:
// the ping was lost.
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
