#include "core/scene/film.h"

namespace sprites {

namespace {

// Calls `see` with each sprite that can be seen, lowest first, until it returns false.
template <class See>
bool EachSeen(const Scene& scene, See see) {
  for (const auto* drawn : {&scene.ground, &scene.sprites}) {
    for (const DrawnSprite& sprite : *drawn) {
      if (sprite.visible && !see(sprite)) {
        return false;
      }
    }
  }
  return true;
}

bool Shows(const std::vector<DrawnSprite>& drawn, const Scene& scene) {
  auto next = drawn.begin();
  const bool is_same = EachSeen(
      scene, [&](const DrawnSprite& sprite) { return next != drawn.end() && *next++ == sprite; });
  return is_same && next == drawn.end();
}

}  // namespace

void Film::Keep(const Scene& scene, int64_t now_ms) {
  const int64_t at_ms = now_ms - now_ms % kFilmFrameMs;
  while (moments_.size() > 1 && moments_[1].at_ms <= at_ms - kFilmMs) {
    DropOldest();
  }
  if (!moments_.empty() && Shows(moments_.back().drawn, scene)) {
    return;
  }
  if (moments_.empty() || moments_.back().at_ms != at_ms) {
    moments_.push_back({at_ms, {}});
  }
  drawn_ -= moments_.back().drawn.size();
  moments_.back().drawn = SeenIn(scene);
  drawn_ += moments_.back().drawn.size();
  while (drawn_ * sizeof(DrawnSprite) > kFilmBytesMax) {
    DropOldest();
  }
}

void Film::DropOldest() {
  drawn_ -= moments_.front().drawn.size();
  moments_.pop_front();
}

std::vector<DrawnSprite> SeenIn(const Scene& scene) {
  std::vector<DrawnSprite> drawn;
  EachSeen(scene, [&](const DrawnSprite& sprite) {
    drawn.push_back(sprite);
    return true;
  });
  return drawn;
}

}  // namespace sprites
