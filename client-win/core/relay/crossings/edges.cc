#include "core/relay/crossings/edges.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

#include "core/picture/file_cache.h"
#include "core/relay/crossings/journey.h"
#include "core/relay/seat.h"
#include "core/text/json.h"
#include "core/text/text.h"

namespace sprites {

namespace {

constexpr double kAtParts = 1e6;  // steps along an edge: finer than any screen

int64_t WholeSpeed(double speed) {
  return static_cast<int64_t>(std::clamp(speed, -rules::kSpeedMax, rules::kSpeedMax));
}

// Steps that a relay does not allow are none.
int StepsAt(const Json& goal, const char* name) {
  constexpr double kMost = rules::kGoalStepsMax;
  return static_cast<int>(NumberAt(goal, name, -kMost, kMost, 0));
}

}  // namespace

std::optional<Edge> EdgeNamed(const Json& value) {
  for (size_t i = 0; i < std::size(kEdgeNames); i++) {
    if (value == kEdgeNames[i]) {
      return static_cast<Edge>(i);
    }
  }
  return std::nullopt;
}

std::optional<std::vector<Edge>> EdgesNamed(const Json& list) {
  if (!list.is_array()) {
    return std::nullopt;
  }
  std::vector<Edge> edges;
  for (size_t i = 0; i < std::size(kEdgeNames); i++) {
    if (std::find(list.begin(), list.end(), kEdgeNames[i]) != list.end()) {
      edges.push_back(static_cast<Edge>(i));
    }
  }
  return edges;
}

std::optional<Carried> CarriedIn(const Json& value) {
  Carried sprite{TextAt(value, "file", kIdBytesMax),
                 PlainText(TextAt(value, "name", kIdBytesMax), rules::kNameBytesMax),
                 NumberAt(value, "scale", rules::kScaleMin, rules::kScaleMax, 1),
                 MemberOf(value, "facing") == "left" ? Facing::kLeft : Facing::kRight,
                 JourneyIn(MemberOf(value, "journey"))};
  return IsFileHash(sprite.file) ? std::optional(std::move(sprite)) : std::nullopt;
}

Json CarriedJson(const Carried& sprite) {
  Json json = {{"file", sprite.file},
               {"name", PlainText(sprite.name, rules::kNameBytesMax)},
               {"scale", std::clamp(sprite.scale, rules::kScaleMin, rules::kScaleMax)},
               {"facing", sprite.facing == Facing::kLeft ? "left" : "right"}};
  if (sprite.journey.hops > 0) {
    json["journey"] = JourneyToJson(sprite.journey);
  }
  return json;
}

Goal GoalIn(const Json& value) {
  return {TextAt(value, "name", rules::kNameBytesMax), StepsAt(value, "column"),
          StepsAt(value, "row")};
}

Entrance EntranceBy(Edge edge, const Json& value) {
  return {edge, NumberAt(value, "at", 0, 1, 0.5),
          NumberAt(value, "vx", -rules::kSpeedMax, rules::kSpeedMax, 0),
          NumberAt(value, "vy", -rules::kSpeedMax, rules::kSpeedMax, 0),
          GoalIn(MemberOf(value, "goal"))};
}

Json MotionJson(const Entrance& entrance) {
  Json json = {{"at", std::round(std::clamp(entrance.at, 0.0, 1.0) * kAtParts) / kAtParts},
               {"vx", WholeSpeed(entrance.vx)},
               {"vy", WholeSpeed(entrance.vy)}};
  if (const auto& [name, column, row] = entrance.goal; !name.empty()) {
    json["goal"] = {{"name", name}, {"column", column}, {"row", row}};
  }
  return json;
}

}  // namespace sprites
