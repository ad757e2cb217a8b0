// What the relay answers: the batch of events that a poll receives, neighbours, problems.
//
// A response may hold anything. It is read field by field and within limits: numbers are clamped to
// their ranges, and what can't be used is left out. The format is server/PROTOCOL.md.
// Cost: O(bytes).
#ifndef CLIENT_WIN_CORE_RELAY_BATCH_H_
#define CLIENT_WIN_CORE_RELAY_BATCH_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/motion/sprite.h"
#include "core/relay/request.h"
#include "core/relay/stages/stage.h"
#include "wire/rules.h"

namespace sprites {

using rules::kAnnouncementBytesMax;
using rules::kByeMsMax;
// ms: a question for a seat is shown so long at most, whatever the relay says.
constexpr int64_t kSwapLeaseMsMax = 120'000;
constexpr size_t kSayingBytesMax = rules::kSayingTextBytesMax;
constexpr int64_t kStageAgeMsMax = 10'000;  // ms: an older stage is shown as if it were this old

struct Neighbour {
  std::string desktop;
  std::string name;

  // The name to show: the desktop's id when it has no name.
  const std::string& DisplayName() const { return name.empty() ? desktop : name; }
  bool operator==(const Neighbour&) const = default;
};
// Whether `muted` stands for this desktop. It goes by the id that the relay gives, which is used
// again one day, and then for a desktop with another name. An entry without an id is of a file of
// version 0.1, and goes by the name.
inline bool Mutes(const Neighbour& muted, const Neighbour& other) {
  return muted.desktop.empty() ? muted.name == other.DisplayName() : muted == other;
}
// By Edge. One without a desktop is not known yet: nothing is shown there.
using Neighbours = std::array<Neighbour, 4>;

// A sprite that crosses to this desktop.
struct Arrival : Carried {
  uint64_t seq = 0;  // of its event; 0 when it belongs to this desktop whatever the relay says
  Neighbour from;
  Entrance entrance;
};

// A line of text that a desktop says to others.
struct Saying {
  Neighbour from;
  std::string text;          // UTF-8, one line, 1 … kSayingBytesMax bytes
  std::optional<Edge> edge;  // beyond which the speaker sits, if the relay says so
};

// What the neighbour beyond an edge shows now. Without a sender, its stage has ended.
struct StageEvent {
  Edge edge = Edge::kLeft;
  std::optional<Neighbour> from;
  int64_t age_ms = 0;  // since the relay received the stage
  Stage stage;
};

// Who wants to change seats with this desktop, and who has.
struct SwapEvent {
  std::optional<Neighbour> from;  // nothing: nobody asks any more
  int64_t lease_ms = 0;           // how long the question lasts
  std::optional<Neighbour> with;  // the seats have been changed
};

// What one poll received.
struct Batch {
  std::string cursor;
  size_t events = 0;     // of every kind, including those left out
  size_t momentary = 0;  // those of them that are only about this moment: stages, watchers, swaps
  std::vector<Arrival> arrivals;
  std::optional<Neighbours> neighbours;
  bool company_changed = false;            // of a private world
  std::vector<std::string> removed;        // files that the relay's operator has removed
  std::vector<std::string> announcements;  // lines of text from the operator
  std::vector<Saying> sayings;
  uint64_t missed = 0;  // sayings that are lost; they came before `sayings`
  std::vector<StageEvent> stages;
  std::optional<std::vector<Edge>> watched;  // through these edges somebody watches this desktop
  std::optional<SwapEvent> swap;
  std::optional<int64_t> bye_ms;  // the relay shuts down: how long to stay away
  std::string join;               // with it: where to join another relay instead
};

namespace codes = rules::codes;  // of the relay's problems

// The problem document of a response. A response without one gets the code `http-STATUS`.
struct Problem {
  std::string code;
  std::string title;
  std::string cursor;  // of cursor-lost and cursor-ahead
  int status = 0;
  int retry_after_s = 0;
};

// What the relay says when it accepts a crossing.
struct Acceptance {
  std::optional<Neighbour> to;  // who received the sprite; empty when the relay no longer knows
};

// Each reads the body of a response, returns nothing when it does not hold what is wanted, and
// never throws.
std::optional<Batch> ReadBatch(std::string_view json);
// The name of the desktop itself in the response to `GET /v1/desktops/{id}`; may be empty.
std::string ReadOwnName(std::string_view json);
// The neighbours in the response to `GET /v1/desktops/{id}`.
std::optional<Neighbours> ReadNeighbours(std::string_view json);
std::optional<Acceptance> ReadAcceptance(const Response& response);
Problem ReadProblem(const Response& response);

// Whether the problem says that this desktop has no seat at the relay (any more).
bool IsSeatEnded(const Problem& problem);

// Whether the relay has decided. A response without a problem code of the relay comes from a proxy
// or a login page, or was cut off on the way.
bool IsDecision(const Problem& problem);

// Whether the relay has decided about a crossing or a saying. The end of the seat is a decision:
// the relay answers 202 to the repeat of a crossing that it accepted before, and refuses every
// other. A relay that has too much to do, or stops, may say so before it looks for the number of a
// repeat, and an answer without a code is a proxy's, which knows nothing of the post before.
bool IsVerdict(const Problem& problem, bool is_repeat);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_BATCH_H_
