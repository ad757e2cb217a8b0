// The stage: what a desktop shows of itself to the neighbours who peek at it.
//
// A watcher moves each sprite on with its velocity, so a sprite that only moves on as the watcher
// expects is not news. Source: BEHAVIOUR.md, "Peeking", whose vectors this plays; the format is
// server/PROTOCOL.md. Units: dip of the whole desktop, from its left top corner; dip/s; ms.
// Cost: O(sprites).
#ifndef CLIENT_WIN_CORE_RELAY_STAGES_STAGE_H_
#define CLIENT_WIN_CORE_RELAY_STAGES_STAGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/motion/simulation.h"
#include "core/text/json_fwd.h"
#include "wire/rules.h"

namespace sprites {

constexpr double kStageDepth = 480;  // dip from a watched edge: sprites beyond are not shown
using rules::kStageBytesMax;
using rules::kStageSpritesMax;  // and of files
// Bytes that a stage leaves free. On a socket it has a number there: `"stage":9007199254740991,`.
constexpr size_t kStageBytesFree = 26;
constexpr double kStageTolerance =
    rules::kStageTolerancePx;  // dip by which a watcher may see a sprite off its place

// A sprite of a stage.
struct StageSprite {
  uint32_t id = 0;  // the same sprite keeps it
  size_t file = 0;  // index in the files of the stage
  double x = 0;     // the middle of its feet
  double y = 0;
  double vx = 0;
  double vy = 0;
  Mode animation = Mode::kIdle;  // the mode whose animation it shows
  Facing facing = Facing::kRight;
  double scale = 1;
};

struct Stage {
  double width = 1;  // of the desktop
  double height = 1;
  std::vector<std::string> files;  // hashes
  std::vector<StageSprite> sprites;
};

// The sprites within kStageDepth of these edges whose pictures `is_shown` says may be shown. If
// there are too many, those farthest from the edges are left out. `is_still`: nothing moves now.
Stage StageOf(const Simulation& simulation, std::span<const Edge> edges,
              const std::function<bool(const std::string&)>& is_shown, bool is_still);

// Whether `now` differs from what a watcher predicts, `passed_ms` after it received `posted`.
bool IsNews(const Stage& posted, double passed_ms, const Stage& now);

// The body of a stage, at most kStageBytesMax - kStageBytesFree for one of StageOf.
std::string StageJson(const Stage& stage);

// The stage in an event, with every number in its range. Nothing without a size. Sprites without a
// picture, and those beyond the limits, are left out.
std::optional<Stage> StageIn(const Json& event);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_STAGES_STAGE_H_
