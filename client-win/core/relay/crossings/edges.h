// Edges as the protocol names them, and how sprites cross them. Cost: O(1).
#ifndef CLIENT_WIN_CORE_RELAY_EDGES_H_
#define CLIENT_WIN_CORE_RELAY_EDGES_H_

#include <optional>
#include <vector>

#include "core/motion/sprite.h"
#include "core/screen/geometry.h"
#include "core/text/json_fwd.h"
#include "wire/rules.h"

namespace sprites {

using rules::kEdgeNames;  // by Edge
using rules::NameOf;

// Nothing for a value that is not the name of an edge.
std::optional<Edge> EdgeNamed(const Json& value);

// The edges in a list, each once, in the order of Edge. What is not an edge is left out. Nothing
// when `list` is not a list.
std::optional<std::vector<Edge>> EdgesNamed(const Json& list);

// What is carried of a sprite, each member within its range. Nothing without a file.
std::optional<Carried> CarriedIn(const Json& value);
Json CarriedJson(const Carried& sprite);

// The goal in an object, within its ranges; nobody's when there is none.
Goal GoalIn(const Json& value);

// How a sprite crosses an edge, as crossings, arrivals and the saved state have it: `at`, `vx`,
// `vy` and, if there is one, `goal`, within their ranges.
Entrance EntranceBy(Edge edge, const Json& value);
// The same members of an object, as exact as anybody sees.
Json MotionJson(const Entrance& entrance);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_EDGES_H_
