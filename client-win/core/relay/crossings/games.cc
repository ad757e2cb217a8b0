#include "core/relay/crossings/games.h"

#include <algorithm>

namespace sprites {

namespace {

constexpr std::string_view kKeepUp = "keep-up-";
constexpr std::string_view kHotPotato = "hot-potato-";
constexpr size_t kDigitsMax = 4;          // of the count behind it
constexpr int kKeptUpMax = 9'999;         // edges in a row: nobody has gone so far
constexpr int kKeptUpShownMin = 2;        // edges in a row that are a game: one throw is none
constexpr int64_t kPotatoMsMin = 15'000;  // until a potato goes off: some throws there and back
constexpr int64_t kPotatoMsMax = 40'000;  // before it gets dull, and it is not known when
constexpr int64_t kPotatoStepMs = 100;    // the unit in which a potato says how long it has left
constexpr int64_t kLostMs = 2'000;  // after its end until one that was thrown on has not come back

// The count of a game in an animation; 0 for another animation.
int CountIn(std::string_view animation, std::string_view game) {
  if (!animation.starts_with(game)) {
    return 0;
  }
  const std::string_view digits = animation.substr(game.size());
  const bool is_count =
      !digits.empty() && digits.size() <= kDigitsMax && digits.front() != '0' &&
      std::ranges::all_of(digits, [](char digit) { return digit >= '0' && digit <= '9'; });
  return is_count ? std::stoi(std::string(digits)) : 0;
}

const Sprite* FindIn(const std::vector<Sprite>& sprites, SpriteId id) {
  const auto found = std::ranges::find(sprites, id, &Sprite::id);
  return found == sprites.end() ? nullptr : &*found;
}

}  // namespace

void Games::Arrive(const Sprite& sprite, std::string_view animation, int64_t now_ms) {
  away_.erase({sprite.file, sprite.name});  // has not gone off, even if others play no games
  if (const int tenths = CountIn(animation, kHotPotato); tenths > 0) {
    Hold(sprite, now_ms + std::min(tenths * kPotatoStepMs, kPotatoMsMax));
    return;
  }
  const int count = std::max(1, CountIn(animation, kKeepUp));
  kept_[sprite.id] = count;
  if (count >= kKeptUpShownMin) {
    news_.push_back({GameNews::What::kKeptUp, sprite.id, sprite.name, count});
  }
}

void Games::Light(const Sprite& sprite, int64_t now_ms, double luck) {
  const auto spread = static_cast<double>(kPotatoMsMax - kPotatoMsMin);
  Hold(sprite, now_ms + kPotatoMsMin + static_cast<int64_t>(luck * spread));
}

void Games::Hold(const Sprite& sprite, int64_t end_ms) {
  kept_.erase(sprite.id);
  potatoes_[sprite.id] = {{sprite.file, sprite.name}, end_ms};
  news_.push_back({GameNews::What::kHot, sprite.id, sprite.name});
}

std::string Games::AnimationOf(SpriteId id, int64_t now_ms) const {
  if (const auto potato = potatoes_.find(id); potato != potatoes_.end()) {
    const int64_t tenths = (potato->second.end_ms - now_ms + kPotatoStepMs - 1) / kPotatoStepMs;
    return std::string(kHotPotato) + std::to_string(std::max<int64_t>(1, tenths));
  }
  const auto kept = kept_.find(id);
  return kept == kept_.end()
             ? ""
             : std::string(kKeepUp) + std::to_string(std::min(kept->second + 1, kKeptUpMax));
}

void Games::Give(const Departure& departure) {
  kept_.erase(departure.sprite.id);
  const auto potato = potatoes_.extract(departure.sprite.id);
  if (potato.empty()) {
    return;
  }
  const Potato& given = potato.mapped();
  const auto is_same = [&](const auto& one) { return one.second.key == given.key; };
  if (std::ranges::none_of(potatoes_, is_same)) {  // else it was back before the relay's answer
    away_[given.key] = {departure.edge, given.end_ms + kLostMs};
  }
}

std::vector<GameNews> Games::Step(const std::vector<Sprite>& here, int64_t now_ms) {
  std::erase_if(kept_, [&](const auto& kept) {
    const auto& [id, count] = kept;
    const Sprite* sprite = FindIn(here, id);
    if (sprite == nullptr || sprite->mode == Mode::kFall || sprite->mode == Mode::kDrag) {
      return false;
    }
    if (count >= kKeptUpShownMin) {
      news_.push_back({GameNews::What::kDropped, id, sprite->name, count});
    }
    return true;
  });
  std::erase_if(potatoes_, [&](const auto& potato) {
    const Sprite* sprite = FindIn(here, potato.first);
    if (sprite == nullptr || now_ms < potato.second.end_ms) {
      return false;  // one on its way goes off where it arrives
    }
    news_.push_back({GameNews::What::kBurnt, potato.first, sprite->name});
    return true;
  });
  std::erase_if(away_, [&](const auto& away) {
    if (now_ms < away.second.lost_ms) {
      return false;
    }
    news_.push_back({GameNews::What::kBurntThere, kNobody, away.first.second, 0, away.second.edge});
    return true;
  });
  return std::exchange(news_, {});
}

}  // namespace sprites
