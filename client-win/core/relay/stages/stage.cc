#include "core/relay/stages/stage.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/picture/file_cache.h"
#include "core/relay/seat.h"
#include "core/text/json.h"
#include "wire/rules.h"

namespace sprites {

namespace {

// Rounds as JavaScript does: a half goes up.
double Rounded(double value) { return std::floor(value + 0.5); }

double Within(double value, double limit) { return std::clamp(value, -limit, limit); }

// A sprite with its place on the desktop.
struct Near {
  const Sprite* sprite;
  double x;
  double y;
  double distance;  // to the nearest of the edges
};

double DistanceTo(Edge edge, double x, double y, double width, double height) {
  const double place = IsSide(edge) ? x : y;
  return IsFar(edge) ? (IsSide(edge) ? width : height) - place : place;
}

// The velocity that a watcher sees. A sprite that is held, sleeps, climbs or hangs has an old one,
// by which it does not move.
Point VelocityOf(const Sprite& sprite) {
  const bool is_sideways = sprite.mode != Mode::kDrag && sprite.mode != Mode::kSleep &&
                           sprite.mode != Mode::kClimb && sprite.mode != Mode::kHang;
  return {is_sideways ? Rounded(sprite.vx) : 0,
          sprite.mode == Mode::kFall    ? Rounded(sprite.vy)
          : sprite.mode == Mode::kClimb ? -Rounded(sprite.nature.walk_speed * kClimbSpeed)
                                        : 0};
}

StageSprite StageSpriteOf(const Near& near, double ratio, bool is_still) {
  const Sprite& sprite = *near.sprite;
  const Point velocity = is_still ? Point{} : VelocityOf(sprite);
  StageSprite shown;
  shown.id = sprite.id;
  shown.x = Within(Rounded(near.x), rules::kScreenMax);
  shown.y = Within(Rounded(near.y), rules::kScreenMax);
  shown.vx = Within(Rounded(velocity.x * ratio), rules::kSpeedMax);
  shown.vy = Within(Rounded(velocity.y * ratio), rules::kSpeedMax);
  shown.animation = sprite.mode;
  shown.facing = sprite.facing;
  shown.scale = std::clamp(sprite.scale, rules::kScaleMin, rules::kScaleMax);
  return shown;
}

// Whole numbers without a fraction, as JavaScript writes them.
Json NumberJson(double value) {
  const auto whole = static_cast<int64_t>(value);
  return static_cast<double>(whole) == value ? Json(whole) : Json(value);
}

// Members that have their default value are left out.
Json SpriteJson(const StageSprite& sprite) {
  Json body = {{"id", sprite.id}, {"x", NumberJson(sprite.x)}, {"y", NumberJson(sprite.y)}};
  if (sprite.file != 0) {
    body["file"] = sprite.file;
  }
  if (sprite.vx != 0) {
    body["vx"] = NumberJson(sprite.vx);
  }
  if (sprite.vy != 0) {
    body["vy"] = NumberJson(sprite.vy);
  }
  if (sprite.animation != Mode::kIdle) {
    body["animation"] = RulesOf(sprite.animation).animation;
  }
  if (sprite.facing == Facing::kLeft) {
    body["facing"] = "left";
  }
  if (sprite.scale != 1) {
    body["scale"] = NumberJson(sprite.scale);
  }
  return body;
}

StageSprite SpriteIn(const Json& value, size_t file) {
  StageSprite sprite;
  sprite.id = static_cast<uint32_t>(NumberAt(value, "id", 0, rules::kSpriteIdMax, 0));
  sprite.file = file;
  sprite.x = NumberAt(value, "x", -rules::kScreenMax, rules::kScreenMax, 0);
  sprite.y = NumberAt(value, "y", -rules::kScreenMax, rules::kScreenMax, 0);
  sprite.vx = NumberAt(value, "vx", -rules::kSpeedMax, rules::kSpeedMax, 0);
  sprite.vy = NumberAt(value, "vy", -rules::kSpeedMax, rules::kSpeedMax, 0);
  // An animation that no mode has is shown as standing.
  sprite.animation = ModeNamed(TextAt(value, "animation", kIdBytesMax)).value_or(Mode::kIdle);
  sprite.facing = MemberOf(value, "facing") == "left" ? Facing::kLeft : Facing::kRight;
  sprite.scale = NumberAt(value, "scale", rules::kScaleMin, rules::kScaleMax, 1);
  return sprite;
}

bool LooksDifferent(const Stage& posted, const StageSprite& old, const Stage& now,
                    const StageSprite& sprite) {
  return posted.files[old.file] != now.files[sprite.file] || old.animation != sprite.animation ||
         old.facing != sprite.facing || old.scale != sprite.scale;
}

bool IsElsewhere(const StageSprite& old, double passed_ms, const StageSprite& sprite) {
  const double seconds = passed_ms / 1000;
  return std::abs(old.x + old.vx * seconds - sprite.x) > kStageTolerance ||
         std::abs(old.y + old.vy * seconds - sprite.y) > kStageTolerance;
}

}  // namespace

Stage StageOf(const Simulation& simulation, std::span<const Edge> edges,
              const std::function<bool(const std::string&)>& is_shown, bool is_still) {
  const Screen& screen = simulation.screen();
  const double scale = screen.monitors()[screen.PrimaryMonitor()].scale;
  const double width = screen.bounds().Width() / scale;
  const double height = screen.bounds().Height() / scale;
  std::vector<Near> near;
  for (const Sprite& sprite : simulation.sprites()) {
    const double x = (sprite.x - screen.bounds().left) / scale;
    const double y = (sprite.y - screen.bounds().top) / scale;
    double distance = kStageDepth + 1;
    for (const Edge edge : edges) {
      distance = std::min(distance, DistanceTo(edge, x, y, width, height));
    }
    if (distance <= kStageDepth && is_shown(sprite.file)) {
      near.push_back({&sprite, x, y, distance});
    }
  }
  std::ranges::sort(near, {},
                    [](const Near& one) { return std::pair(one.distance, one.sprite->id); });
  near.resize(std::min(near.size(), kStageSpritesMax));
  while (true) {
    Stage stage;
    stage.width = screen.DipWidth();
    stage.height = screen.DipHeight();
    for (const Near& one : near) {
      // A dip of its own monitor may be larger than one of the primary monitor.
      const double ratio = screen.monitors()[one.sprite->monitor].scale / scale;
      StageSprite sprite = StageSpriteOf(one, ratio, is_still);
      const auto file = std::ranges::find(stage.files, one.sprite->file);
      sprite.file = static_cast<size_t>(file - stage.files.begin());
      if (file == stage.files.end()) {
        stage.files.push_back(one.sprite->file);
      }
      stage.sprites.push_back(sprite);
    }
    if (near.empty() || StageJson(stage).size() <= kStageBytesMax - kStageBytesFree) {
      return stage;
    }
    near.pop_back();
  }
}

bool IsNews(const Stage& posted, double passed_ms, const Stage& now) {
  if (posted.width != now.width || posted.height != now.height ||
      posted.sprites.size() != now.sprites.size()) {
    return true;
  }
  std::unordered_map<uint32_t, const StageSprite*> before;
  for (const StageSprite& sprite : posted.sprites) {
    before[sprite.id] = &sprite;
  }
  return std::ranges::any_of(now.sprites, [&](const StageSprite& sprite) {
    const auto old = before.find(sprite.id);
    return old == before.end() || LooksDifferent(posted, *old->second, now, sprite) ||
           IsElsewhere(*old->second, passed_ms, sprite);
  });
}

std::string StageJson(const Stage& stage) {
  Json sprites = Json::array();
  for (const StageSprite& sprite : stage.sprites) {
    sprites.push_back(SpriteJson(sprite));
  }
  return WriteJson({{"width", NumberJson(stage.width)},
                    {"height", NumberJson(stage.height)},
                    {"files", stage.files},
                    {"sprites", std::move(sprites)}});
}

std::optional<Stage> StageIn(const Json& event) {
  Stage stage;
  stage.width = NumberAt(event, "width", 0, rules::kScreenMax, 0);
  stage.height = NumberAt(event, "height", 0, rules::kScreenMax, 0);
  const Json& files = MemberOf(event, "files");
  const Json& sprites = MemberOf(event, "sprites");
  if (stage.width < 1 || stage.height < 1 || !files.is_array() || !sprites.is_array()) {
    return std::nullopt;
  }
  for (size_t i = 0; i < std::min(files.size(), kStageSpritesMax); i++) {
    const bool is_file =
        files[i].is_string() && files[i].get_ref<const std::string&>().size() <= kIdBytesMax;
    stage.files.push_back(
        is_file && IsFileHash(files[i].get<std::string>()) ? files[i].get<std::string>() : "");
  }
  std::unordered_set<uint32_t> ids;
  for (size_t i = 0; i < std::min(sprites.size(), kStageSpritesMax); i++) {
    const auto file = static_cast<size_t>(NumberAt(sprites[i], "file", 0, rules::kSpriteIdMax, 0));
    if (file >= stage.files.size() || stage.files[file].empty()) {
      continue;
    }
    const StageSprite sprite = SpriteIn(sprites[i], file);
    if (ids.insert(sprite.id).second) {
      stage.sprites.push_back(sprite);
    }
  }
  return stage;
}

}  // namespace sprites
