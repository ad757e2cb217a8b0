#include "core/desktop/silhouettes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sprites {

void Silhouettes::Receive(const StageEvent& event, int64_t now_ms) {
  if (!event.from) {
    if (edge_ == event.edge) {
      Clear();
    }
    return;
  }
  if (edge_ != event.edge || !from_ || from_->desktop != event.from->desktop) {
    Clear();
  }
  const std::vector<Moving> former = std::exchange(sprites_, {});
  edge_ = event.edge;
  from_ = event.from;
  theirs_ = {event.stage.width, event.stage.height};
  received_ms_ = now_ms;
  for (const StageSprite& sprite : event.stage.sprites) {
    const auto known =
        std::ranges::find_if(former, [&](const Moving& one) { return one.sprite.id == sprite.id; });
    Moving moving{
        sprite, event.stage.files[sprite.file], kNobody, now_ms, now_ms - event.age_ms, {}, now_ms};
    if (known == former.end()) {
      moving.key = next_key_++;
    } else {
      moving.key = known->key;
      if (known->sprite.animation == sprite.animation) {
        moving.since_ms = known->since_ms;
      }
      const Point is = Drawn(moving, now_ms);
      const Point was = Drawn(*known, now_ms);
      const Point off{was.x - is.x, was.y - is.y};
      moving.off = std::hypot(off.x, off.y) > kJumpDip ? Point{} : off;
    }
    sprites_.push_back(std::move(moving));
  }
}

void Silhouettes::Clear() {
  from_.reset();
  edge_.reset();
  sprites_.clear();
}

std::vector<Silhouette> Silhouettes::At(int64_t now_ms, const DipSize& here) {
  if (now_ms - received_ms_ > kSilenceMs) {
    Clear();
  }
  std::vector<Silhouette> shown;
  for (const Moving& moving : sprites_) {
    const StageSprite& sprite = moving.sprite;
    shown.push_back({sprite.id, moving.key, moving.file, sprite.animation, sprite.facing,
                     sprite.scale, moving.since_ms,
                     SeenFrom(*edge_, Drawn(moving, now_ms), theirs_, here)});
  }
  return shown;
}

Point Silhouettes::Drawn(const Moving& moving, int64_t now_ms) const {
  const StageSprite& sprite = moving.sprite;
  const auto passed_ms = std::clamp<int64_t>(now_ms - moving.at_ms, 0, kPredictedMs);
  const double seconds = static_cast<double>(passed_ms) / 1000;
  const double left = std::exp(-static_cast<double>(now_ms - moving.off_ms) / kGlideMs);
  const double y = sprite.y + sprite.vy * seconds;
  // A falling sprite stops at the floor, even before a stage says that it has landed.
  const double landed = sprite.y <= theirs_.height ? std::min(y, theirs_.height) : y;
  return {sprite.x + sprite.vx * seconds + moving.off.x * left, landed + moving.off.y * left};
}

Point SeenFrom(Edge edge, Point point, const DipSize& theirs, const DipSize& here) {
  if (IsSide(edge)) {
    return {IsFar(edge) ? here.width + point.x : point.x - theirs.width,
            point.y / theirs.height * here.height};
  }
  return {point.x / theirs.width * here.width,
          IsFar(edge) ? here.height + point.y : point.y - theirs.height};
}

}  // namespace sprites
