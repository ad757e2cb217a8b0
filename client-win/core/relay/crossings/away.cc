#include "core/relay/crossings/away.h"

#include <algorithm>

#include "wire/rules.h"

namespace sprites {

void Away::Leave(const Departure& departure, int64_t now_s) {
  const Journey& journey = departure.journey;
  if (journey.hops > 0) {
    const Sprite& sprite = departure.sprite;
    Restore({sprite.file, sprite.name, journey.since_s, now_s, journey.hops, ""});
  }
}

void Away::Accept(const Departure& departure, const std::string& to, int64_t now_s) {
  if (const size_t i = Find(departure.sprite.file, departure.journey); i < all_.size()) {
    all_[i].seen_s = now_s;
    all_[i].hops = departure.journey.hops;
    all_[i].with = to;
  }
}

void Away::Refuse(const Departure& departure) {
  if (const size_t i = Find(departure.sprite.file, departure.journey); i < all_.size()) {
    all_.erase(all_.begin() + static_cast<ptrdiff_t>(i));
  }
}

std::optional<Journey> Away::ComeHome(const std::string& file, const Journey& journey,
                                      bool is_own) {
  const size_t i = Find(file, journey);
  if (i == all_.size()) {
    return std::nullopt;
  }
  Journey home = journey;
  if (!is_own) {
    home.hops = std::min<int64_t>(std::max(journey.hops, all_[i].hops + 1), rules::kJourneyHopsMax);
  }
  all_.erase(all_.begin() + static_cast<ptrdiff_t>(i));
  return home;
}

void Away::Restore(AwaySprite sprite) {
  all_.push_back(std::move(sprite));
  if (all_.size() > kAwayMax) {
    all_.erase(all_.begin());
  }
}

size_t Away::Find(const std::string& file, const Journey& journey) const {
  const auto found = std::ranges::find_if(all_, [&](const AwaySprite& one) {
    return journey.hops > 0 && one.file == file && one.since_s == journey.since_s;
  });
  return static_cast<size_t>(found - all_.begin());
}

}  // namespace sprites
