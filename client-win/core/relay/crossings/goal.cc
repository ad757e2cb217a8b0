#include "core/relay/crossings/goal.h"

#include <algorithm>
#include <cstdlib>

#include "core/text/text.h"
#include "wire/rules.h"

namespace sprites {

namespace {

// By Edge: to the right, and down.
constexpr int kStepRight[] = {-1, 1, 0, 0};
constexpr int kStepDown[] = {0, 0, -1, 1};

}  // namespace

std::optional<Step> NextStep(const Goal& goal, const std::optional<std::string>& name,
                             const Neighbours& neighbours) {
  const auto& [name_there, column, row] = goal;
  const std::string to = PlainText(name_there, rules::kNameBytesMax);  // as those beside it are
  if (to.empty() || to == name || (column == 0 && row == 0)) {
    return std::nullopt;
  }
  const Edge edge = column > 0   ? Edge::kRight
                    : column < 0 ? Edge::kLeft
                    : row > 0    ? Edge::kBottom
                                 : Edge::kTop;
  const auto index = static_cast<size_t>(edge);
  if (std::abs(column) + std::abs(row) > 1 || neighbours[index].name == to) {
    return Step{edge, {name_there, column - kStepRight[index], row - kStepDown[index]}};
  }
  // Somebody has come or left meanwhile: the friend may be beyond another edge.
  const auto there = std::ranges::find(neighbours, to, &Neighbour::name);
  return there == neighbours.end()
             ? std::nullopt
             : std::optional(
                   Step{static_cast<Edge>(there - neighbours.begin()), {name_there, 0, 0}});
}

}  // namespace sprites
