#include "core/relay/edges.h"

#include <algorithm>
#include <iterator>

#include "core/text/json.h"

namespace sprites {

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

}  // namespace sprites
