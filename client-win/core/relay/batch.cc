#include "core/relay/batch.h"

#include <iterator>
#include <utility>

#include "core/picture/file_cache.h"
#include "core/relay/crossings/edges.h"
#include "core/relay/seat.h"
#include "core/text/json.h"
#include "core/text/text.h"
#include "wire/rules.h"

namespace sprites {

namespace {

constexpr int kEventDepthMax = 8;  // nested values; an event has 4

Neighbour NeighbourIn(const Json& value) {
  std::string desktop = TextAt(value, "desktop", kIdBytesMax);
  return {IsToken(desktop) ? std::move(desktop) : "",
          PlainText(TextAt(value, "name", kIdBytesMax), kNameBytesMax)};
}

// Nothing if it is not an object at all. The relay leaves out the edges that it does not know yet.
std::optional<Neighbours> NeighboursIn(const Json& value) {
  if (!value.is_object()) {
    return std::nullopt;
  }
  Neighbours neighbours;
  for (size_t i = 0; i < neighbours.size(); i++) {
    Neighbour neighbour = NeighbourIn(MemberOf(value, std::string(kEdgeNames[i]).c_str()));
    if (!neighbour.desktop.empty()) {
      neighbours[i] = std::move(neighbour);
    }
  }
  return neighbours;
}

// An arrival with every number in its range; nothing without a sequence number, an edge or a file.
std::optional<Arrival> ArrivalIn(const Json& event) {
  const double seq = NumberAt(event, "seq", 0, kWholeNumberMax, 0);
  const auto edge = EdgeNamed(MemberOf(event, "edge"));
  auto sprite = CarriedIn(MemberOf(event, "sprite"));
  if (seq < 1 || !edge || !sprite) {
    return std::nullopt;
  }
  Entrance entrance = EntranceBy(*edge, event);
  entrance.animation = TextAt(MemberOf(event, "sprite"), "animation", rules::kAnimationLengthMax);
  return Arrival{std::move(*sprite), static_cast<uint64_t>(seq),
                 NeighbourIn(MemberOf(event, "from")), std::move(entrance)};
}

// Nothing without a speaker or a text.
std::optional<Saying> SayingIn(const Json& event) {
  Saying saying;
  saying.from = NeighbourIn(MemberOf(event, "from"));
  saying.text = PlainText(TextAt(event, "text", kSayingBytesMax), kSayingBytesMax);
  saying.edge = EdgeNamed(MemberOf(event, "edge"));
  const bool is_blank = saying.text.find_first_not_of(' ') == std::string::npos;
  return saying.from.desktop.empty() || is_blank ? std::nullopt : std::optional(std::move(saying));
}

// Nothing without an edge, or with a sender but without a stage.
std::optional<StageEvent> StageEventIn(const Json& event) {
  const auto edge = EdgeNamed(MemberOf(event, "edge"));
  if (!edge) {
    return std::nullopt;
  }
  StageEvent shown;
  shown.edge = *edge;
  shown.age_ms = static_cast<int64_t>(NumberAt(event, "ageMs", 0, double{kStageAgeMsMax}, 0));
  Neighbour from = NeighbourIn(MemberOf(event, "from"));
  if (from.desktop.empty()) {
    return shown;
  }
  auto stage = StageIn(event);
  if (!stage) {
    return std::nullopt;
  }
  shown.from = std::move(from);
  shown.stage = std::move(*stage);
  return shown;
}

// Nobody where the relay names no desktop.
std::optional<Neighbour> SomebodyIn(const Json& value) {
  Neighbour neighbour = NeighbourIn(value);
  return neighbour.desktop.empty() ? std::nullopt : std::optional(std::move(neighbour));
}

SwapEvent SwapEventIn(const Json& event) {
  return {SomebodyIn(MemberOf(event, "from")),
          static_cast<int64_t>(NumberAt(event, "leaseMs", 0, double{kSwapLeaseMsMax}, 0)),
          SomebodyIn(MemberOf(event, "with"))};
}

void ReadEvent(const Json& event, Batch* batch) {
  const Json& type = MemberOf(event, "type");
  if (type == "sprite") {
    if (auto arrival = ArrivalIn(event)) {
      batch->arrivals.push_back(std::move(*arrival));
    }
  } else if (type == "neighbours") {
    if (auto neighbours = NeighboursIn(event)) {
      batch->neighbours = std::move(neighbours);
    }
  } else if (type == "company") {
    batch->company_changed = true;
  } else if (type == "removed") {
    std::string file = TextAt(event, "file", kIdBytesMax);
    if (IsFileHash(file)) {
      batch->removed.push_back(std::move(file));
    }
  } else if (type == "announcement") {
    std::string text =
        PlainText(TextAt(event, "text", kAnnouncementBytesMax), kAnnouncementBytesMax);
    if (!text.empty()) {
      batch->announcements.push_back(std::move(text));
    }
  } else if (type == "saying") {
    if (auto saying = SayingIn(event)) {
      batch->sayings.push_back(std::move(*saying));
    }
  } else if (type == "missed") {
    const double missed = NumberAt(event, "sayings", 0, kWholeNumberMax, 0);
    batch->missed += static_cast<uint64_t>(missed);
  } else if (type == "stage") {
    batch->momentary++;
    if (auto shown = StageEventIn(event)) {
      batch->stages.push_back(std::move(*shown));
    }
  } else if (type == "watched") {
    batch->momentary++;
    if (auto edges = EdgesNamed(MemberOf(event, "edges"))) {
      batch->watched = std::move(edges);
    }
  } else if (type == "swap") {
    batch->momentary++;
    batch->swap = SwapEventIn(event);
  } else if (type == "bye") {
    const double ms = NumberAt(event, "retryAfterMs", 0, double{kByeMsMax}, 0);
    batch->bye_ms = static_cast<int64_t>(ms);
    batch->join = TextAt(event, "join", kUrlBytesMax);
  }
}

}  // namespace

std::optional<Batch> ReadBatch(std::string_view json) {
  if (json.size() > kResponseBytesMax) {
    return std::nullopt;
  }
  const Json root = ParseJson(json, kEventDepthMax);
  const Json& events = MemberOf(root, "events");
  Batch batch;
  batch.cursor = TextAt(root, "cursor", kIdBytesMax);
  if (batch.cursor.empty() || !IsToken(batch.cursor) || !events.is_array() ||
      events.size() > rules::kAnswerEventsMax) {
    return std::nullopt;
  }
  batch.events = events.size();
  for (const Json& event : events) {
    ReadEvent(event, &batch);
  }
  return batch;
}

Problem ReadProblem(const Response& response) {
  const Json root =
      response.body.size() > kResponseBytesMax ? Json() : ParseJson(response.body, kEventDepthMax);
  Problem problem;
  problem.status = response.status;
  problem.retry_after_s = response.retry_after_s;
  problem.code = TextAt(root, "code", kNameBytesMax);
  problem.title = PlainText(TextAt(root, "title", kResponseBytesMax), kCreditBytesMax);
  problem.cursor = TextAt(root, "cursor", kIdBytesMax);
  if (!IsToken(problem.cursor)) {
    problem.cursor.clear();
  }
  if (problem.code.empty() || !IsToken(problem.code)) {
    problem.code = "http-" + std::to_string(response.status);
  }
  if (problem.title.empty()) {
    problem.title = response.status == 0
                        ? "The relay could not be reached."
                        : "The relay answered " + std::to_string(response.status) + ".";
  }
  return problem;
}

std::optional<Neighbours> ReadNeighbours(std::string_view json) {
  if (json.size() > kResponseBytesMax) {
    return std::nullopt;
  }
  return NeighboursIn(MemberOf(ParseJson(json, kEventDepthMax), "neighbours"));
}

std::string ReadOwnName(std::string_view json) {
  return PlainText(TextAt(ParseJson(json, kEventDepthMax), "name", kIdBytesMax), kNameBytesMax);
}

std::optional<Acceptance> ReadAcceptance(const Response& response) {
  if (response.status != 202 || response.body.size() > kResponseBytesMax) {
    return std::nullopt;
  }
  const Json root = ParseJson(response.body, kEventDepthMax);
  if (!root.is_object() || !root.contains("to")) {
    return std::nullopt;
  }
  Neighbour to = NeighbourIn(MemberOf(root, "to"));
  return Acceptance{to.desktop.empty() ? std::nullopt : std::optional(std::move(to))};
}

bool IsSeatEnded(const Problem& problem) {
  return problem.code == codes::kUnknownDesktop || problem.code == codes::kDesktopEnded;
}

bool IsDecision(const Problem& problem) {
  const bool is_from_relay = problem.status != 0 && !problem.code.starts_with("http-5") &&
                             !problem.code.starts_with("http-2");
  return is_from_relay && !IsSeatEnded(problem) && problem.code != "internal";
}

bool IsVerdict(const Problem& problem, bool is_repeat) {
  const bool is_hasty = problem.code == codes::kTooFast || problem.code == codes::kRelayBusy ||
                        problem.code == codes::kDraining || problem.code.starts_with("http-");
  return IsSeatEnded(problem) || (IsDecision(problem) && !(is_repeat && is_hasty));
}

}  // namespace sprites
