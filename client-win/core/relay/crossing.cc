#include "core/relay/crossing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/picture/file_cache.h"
#include "core/relay/poller.h"
#include "core/text/json.h"
#include "core/text/text.h"

namespace sprites {

namespace {

constexpr int kEventDepthMax = 8;                // nested values; an event has 4
constexpr double kNumberMax = 9007199254740991;  // 2⁵³ − 1
constexpr double kAtParts = 1e6;                 // of an edge: finer than any screen
constexpr const char* kEdgeNames[] = {"left", "right", "top", "bottom"};

std::optional<Edge> EdgeNamed(const Json& value) {
  for (size_t i = 0; i < std::size(kEdgeNames); i++) {
    if (value == kEdgeNames[i]) {
      return static_cast<Edge>(i);
    }
  }
  return std::nullopt;
}

Neighbour NeighbourIn(const Json& value) {
  std::string desktop = TextAt(value, "desktop", kIdBytesMax);
  return {IsToken(desktop) ? std::move(desktop) : "",
          PlainText(TextAt(value, "name", kIdBytesMax), kNameBytesMax)};
}

std::optional<Neighbours> NeighboursIn(const Json& value) {
  Neighbours neighbours;
  for (size_t i = 0; i < neighbours.size(); i++) {
    neighbours[i] = NeighbourIn(MemberOf(value, kEdgeNames[i]));
    if (neighbours[i].desktop.empty()) {
      return std::nullopt;
    }
  }
  return neighbours;
}

// An arrival with every number in its range; nothing when it lacks what can't be guessed.
std::optional<Arrival> ArrivalIn(const Json& event) {
  const Json& sprite = MemberOf(event, "sprite");
  const double seq = NumberAt(event, "seq", 0, kNumberMax, 0);
  const auto edge = EdgeNamed(MemberOf(event, "edge"));
  Arrival arrival;
  arrival.file = TextAt(sprite, "file", kIdBytesMax);
  if (seq < 1 || !edge || !IsFileHash(arrival.file)) {
    return std::nullopt;
  }
  arrival.seq = static_cast<uint64_t>(seq);
  arrival.from = NeighbourIn(MemberOf(event, "from"));
  arrival.entrance = {*edge, NumberAt(event, "at", 0, 1, 0.5),
                      NumberAt(event, "vx", -kRelaySpeedMax, kRelaySpeedMax, 0),
                      NumberAt(event, "vy", -kRelaySpeedMax, kRelaySpeedMax, 0)};
  arrival.name = PlainText(TextAt(sprite, "name", kIdBytesMax), kNameBytesMax);
  arrival.facing = MemberOf(sprite, "facing") == "left" ? Facing::kLeft : Facing::kRight;
  arrival.scale = NumberAt(sprite, "scale", kSpriteScaleMin, kSpriteScaleMax, 1);
  return arrival;
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
  } else if (type == "bye") {
    const double ms = NumberAt(event, "retryAfterMs", 0, double{kByeMsMax}, 0);
    batch->bye_ms = static_cast<int64_t>(ms);
  }
}

// A relay that says nothing of its own has decided nothing: a proxy spoke, a portal that wants a
// login first, or it broke on the way.
bool IsVerdict(const Problem& problem) {
  const bool is_of_the_relay = problem.status != 0 && !problem.code.starts_with("http-5") &&
                               !problem.code.starts_with("http-2");
  const bool is_of_our_seat = problem.code == "unknown-desktop" || problem.code == "desktop-ended";
  return is_of_the_relay && !is_of_our_seat && problem.code != "internal";
}

}  // namespace

std::optional<Batch> ReadBatch(std::string_view json) {
  if (json.size() > kAnswerBytesMax) {
    return std::nullopt;
  }
  const Json root = ParseJson(json, kEventDepthMax);
  const Json& events = MemberOf(root, "events");
  Batch batch;
  batch.cursor = TextAt(root, "cursor", kIdBytesMax);
  if (batch.cursor.empty() || !IsToken(batch.cursor) || !events.is_array() ||
      events.size() > kEventsPerAnswerMax) {
    return std::nullopt;
  }
  batch.events = events.size();
  for (const Json& event : events) {
    ReadEvent(event, &batch);
  }
  return batch;
}

Problem ReadProblem(const Answer& answer) {
  const Json root =
      answer.body.size() > kAnswerBytesMax ? Json() : ParseJson(answer.body, kEventDepthMax);
  Problem problem;
  problem.status = answer.status;
  problem.retry_after_s = answer.retry_after_s;
  problem.code = TextAt(root, "code", kNameBytesMax);
  problem.title = PlainText(TextAt(root, "title", kAnswerBytesMax), kCreditBytesMax);
  problem.cursor = TextAt(root, "cursor", kIdBytesMax);
  if (!IsToken(problem.cursor)) {
    problem.cursor.clear();
  }
  if (problem.code.empty() || !IsToken(problem.code)) {
    problem.code = "http-" + std::to_string(answer.status);
  }
  if (problem.title.empty()) {
    problem.title = answer.status == 0
                        ? "The relay could not be reached."
                        : "The relay answered " + std::to_string(answer.status) + ".";
  }
  return problem;
}

std::optional<Neighbours> ReadNeighbours(std::string_view json) {
  if (json.size() > kAnswerBytesMax) {
    return std::nullopt;
  }
  return NeighboursIn(MemberOf(ParseJson(json, kEventDepthMax), "neighbours"));
}

std::string CrossingJson(uint64_t number, const Departure& departure) {
  const Sprite& sprite = departure.sprite;
  const auto speed = [](double value) {
    return static_cast<int64_t>(std::clamp(value, -kRelaySpeedMax, kRelaySpeedMax));
  };
  const Json body = {
      {"crossing", number},
      {"edge", kEdgeNames[static_cast<size_t>(departure.edge)]},
      {"at", std::round(std::clamp(departure.at, 0.0, 1.0) * kAtParts) / kAtParts},
      {"vx", speed(departure.vx)},
      {"vy", speed(departure.vy)},
      {"sprite",
       {{"file", sprite.file},
        {"name", PlainText(sprite.name, kNameBytesMax)},
        {"animation", "fall"},
        {"facing", sprite.facing == Facing::kLeft ? "left" : "right"},
        {"scale", std::clamp(sprite.scale, kSpriteScaleMin, kSpriteScaleMax)}}},
  };
  return Written(body);
}

void Departures::Depart(const Departure& departure, bool unseen) {
  Leaving leaving;
  leaving.number = next_number_;
  leaving.departure = departure;
  leaving.unseen = unseen;
  Resume(std::move(leaving));
}

void Departures::Resume(Leaving leaving) {
  next_number_ = std::max(next_number_, leaving.number + 1);
  leaving_.push_back(std::move(leaving));
}

std::vector<Request> Departures::Due(const Seat& seat, int64_t now_ms, RequestId* next_id) {
  std::vector<Request> requests;
  for (Leaving& leaving : leaving_) {
    // All that fit into the relay's memory of numbers; the rest waits its turn, off the edge.
    if (leaving.number >= leaving_.front().number + kCrossingsAhead) {
      break;
    }
    if (leaving.request != 0 || leaving.due_ms > now_ms) {
      continue;
    }
    leaving.request = (*next_id)++;
    Request request;
    request.id = leaving.request;
    request.method = Method::kPost;
    request.url = seat.crossings;
    request.token = seat.token;
    request.content_type = "application/json";
    request.body = CrossingJson(leaving.number, leaving.departure);
    request.timeout_ms = kShortTimeoutMs;
    request.answer_bytes_max = kAnswerBytesMax;
    requests.push_back(std::move(request));
  }
  return requests;
}

std::optional<Verdict> Departures::Take(const Answer& answer, int64_t now_ms,
                                        const Random& random) {
  const auto found = std::ranges::find(leaving_, answer.id, &Leaving::request);
  if (answer.id == 0 || found == leaving_.end()) {
    return std::nullopt;
  }
  Verdict verdict;
  const bool is_short = answer.body.size() <= kAnswerBytesMax;
  const Json root = is_short ? ParseJson(answer.body, kEventDepthMax) : Json();
  verdict.accepted = answer.status == 202 && root.is_object() && root.contains("to");
  if (verdict.accepted) {
    const Neighbour to = NeighbourIn(MemberOf(root, "to"));
    verdict.to = to.desktop.empty() ? std::nullopt : std::optional(to);
  } else {
    verdict.problem = ReadProblem(answer);
    if (!IsVerdict(verdict.problem)) {
      found->request = 0;
      found->due_ms = now_ms + BackoffMs(found->failures++, random);
      return std::nullopt;
    }
  }
  verdict.leaving = std::move(*found);
  leaving_.erase(found);
  return verdict;
}

void Departures::AskAgain() {
  for (Leaving& leaving : leaving_) {
    leaving.request = 0;
    leaving.due_ms = 0;
    leaving.failures = 0;
  }
}

int64_t Departures::NextDueMs() const {
  int64_t due = std::numeric_limits<int64_t>::max();
  for (const Leaving& leaving : leaving_) {
    if (leaving.request == 0) {
      due = std::min(due, leaving.due_ms);
    }
  }
  return due;
}

}  // namespace sprites
