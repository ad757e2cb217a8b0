#include "core/motion/behaviour.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sprites {

namespace {

constexpr ModeRules kTable[kModes] = {
    {"idle", Mode::kIdle, true, true, true, false},
    {"walk", Mode::kWalk, true, true, true, true},
    {"fall", Mode::kFall, false, true, false, false},
    {"drag", Mode::kDrag, false, false, false, false},
    {"land", Mode::kLand, true, true, false, true},
    {"climb", Mode::kClimb, false, true, false, false},
    {"sleep", Mode::kSleep, true, true, false, true},
    {"sit", Mode::kSit, true, true, true, true},
    {"hang", Mode::kHang, false, true, false, false},
    {"pet", Mode::kPet, true, true, false, true},
    {"yawn", Mode::kYawn, true, true, false, true},
    {"look", Mode::kLook, true, true, true, false},
    {"wave", Mode::kWave, true, true, false, true},
    {"greet", Mode::kGreet, true, true, false, true},
};

constexpr AnimationRules kAnimations[] = {
    {"idle", "idle", false},  {"walk", "idle", false},  {"fall", "idle", false},
    {"drag", "idle", false},  {"land", "idle", true},   {"climb", "idle", false},
    {"sleep", "idle", false}, {"throw", "fall", false}, {"tumble", "throw", false},
    {"squash", "land", true}, {"sit", "idle", false},   {"hang", "drag", false},
    {"pet", "idle", false},   {"yawn", "idle", true},   {"look", "idle", false},
    {"wave", "idle", false},  {"greet", "wave", false},
};

double Forwards(const Sprite& sprite) { return sprite.facing == Facing::kLeft ? -1 : 1; }

}  // namespace

void TurnRound(Sprite* sprite) {
  sprite->facing = sprite->facing == Facing::kLeft ? Facing::kRight : Facing::kLeft;
}

const ModeRules& RulesOf(Mode mode) { return kTable[static_cast<size_t>(mode)]; }

std::span<const ModeRules> BehaviourTable() { return kTable; }

std::optional<Mode> ModeNamed(std::string_view animation) {
  const auto found = std::ranges::find(kTable, animation, &ModeRules::animation);
  return found == std::end(kTable) ? std::nullopt : std::optional(found->mode);
}

std::span<const AnimationRules> AnimationTable() { return kAnimations; }

const AnimationRules* AnimationRulesOf(std::string_view name) {
  const auto found = std::ranges::find(kAnimations, name, &AnimationRules::name);
  return found == std::end(kAnimations) ? nullptr : found;
}

const char* AnimationOf(const Sprite& sprite) {
  if (sprite.mode == Mode::kFall) {
    const char* in_flight = sprite.thrown || sprite.arriving ? "throw" : "fall";
    return sprite.tumbles ? "tumble" : in_flight;
  }
  const bool is_squashed = sprite.mode == Mode::kLand && sprite.squashed;
  return is_squashed ? "squash" : RulesOf(sprite.mode).animation;
}

// What a sprite does after a pause, when it is alone.
void Wander(Sprite* sprite, double now_ms, const Random& random) {
  const bool is_bold = IsBold(*sprite, now_ms);
  const Nature& nature = sprite->nature;
  const double hops = is_bold ? std::max(nature.hop_chance, kBoldHopChance) : nature.hop_chance;
  const double choice = random();
  if (choice < hops) {
    Jump(sprite, now_ms);
    sprite->vx = Forwards(*sprite) * nature.walk_speed;
  } else if (choice < hops + kLookAroundChance) {
    TurnRound(sprite);
    sprite->next_ms = now_ms + kPauseMsMin + kPauseMsSpread * random();
  } else if (choice < hops + kLookAroundChance + kYawnChance) {
    SetMode(sprite, Mode::kYawn, now_ms);
    sprite->next_ms = now_ms + kYawnMs;
  } else {
    if (random() < kTurnChance) {
      TurnRound(sprite);
    }
    StartWalk(sprite, now_ms, kWalkMsMin + kWalkMsSpread * random());
    sprite->pace = is_bold ? kBoldPace : 1;
  }
}

int64_t ThrowsOf(const Sprite& sprite, double now_ms) {
  return now_ms - sprite.thrown_ms <= kThrowsMs ? sprite.throws : 0;
}

void CountThrows(Sprite* sprite, int64_t throws, double now_ms) {
  sprite->throws = throws;
  sprite->thrown_ms = now_ms;
  sprite->reels = throws >= kDizzyThrows && throws < kBoldThrows ? kReels : 0;
}

bool IsBold(const Sprite& sprite, double now_ms) { return ThrowsOf(sprite, now_ms) >= kBoldThrows; }

bool ComeRound(Sprite* sprite, double now_ms, bool calm) {
  if (sprite->reels > 0 && !calm) {
    sprite->reels--;
    TurnRound(sprite);
    StartWalk(sprite, now_ms, kReelMs);
    sprite->pace = kReelPace;
    return true;
  }
  if (!sprite->greets) {
    return false;
  }
  if (std::exchange(sprite->is_home, false)) {
    HopOnSpot(sprite, now_ms);
  } else {
    sprite->greets = false;
    SetMode(sprite, Mode::kGreet, now_ms);
    sprite->next_ms = now_ms + kGreetMs;
  }
  return true;
}

void Decide(Sprite* sprite, double now_ms, bool calm, const Random& random) {
  const bool bored = now_ms - sprite->touched_ms > kBoredMs;
  const bool was_asleep = sprite->mode == Mode::kSleep;
  if (was_asleep) {
    sprite->touched_ms = now_ms - kBoredMs * random();
  }
  if (bored && !was_asleep) {
    StartSleep(sprite, now_ms, random);
  } else if (RulesOf(sprite->mode).pauses_after || calm) {
    SetMode(sprite, Mode::kIdle, now_ms);
    sprite->next_ms = now_ms + kPauseMsMin + kPauseMsSpread * random();
  } else {
    Wander(sprite, now_ms, random);
  }
}

void SetMode(Sprite* sprite, Mode mode, double now_ms) {
  if (sprite->mode != mode) {
    sprite->mode = mode;
    sprite->since_ms = now_ms;
    sprite->pace = 1;
    sprite->chases = kNobody;
    sprite->sleepy = false;
    sprite->longs = false;
    sprite->squashed = sprite->squashed && mode != Mode::kFall;
    sprite->tumbles = sprite->tumbles && (mode == Mode::kFall || mode == Mode::kLand);
  }
}

void StartWalk(Sprite* sprite, double now_ms, double ms) {
  SetMode(sprite, Mode::kWalk, now_ms);
  sprite->pace = 1;
  sprite->chases = kNobody;
  sprite->sleepy = false;
  sprite->longs = false;
  sprite->next_ms = now_ms + ms;
}

void StartSleep(Sprite* sprite, double now_ms, const Random& random) {
  SetMode(sprite, Mode::kSleep, now_ms);
  sprite->next_ms = now_ms + kSleepMsMax * (0.5 + random() / 2);
}

void LetGo(Sprite* sprite, bool up, double now_ms) {
  const Nature& nature = sprite->nature;
  sprite->vy = up ? -std::sqrt(2 * nature.gravity * kPullUpHeights * nature.height) : 0;
  SetMode(sprite, Mode::kFall, now_ms);
}

void Jump(Sprite* sprite, double now_ms) {
  sprite->vy = -sprite->nature.jump_speed;
  SetMode(sprite, Mode::kFall, now_ms);
}

void HopOnSpot(Sprite* sprite, double now_ms) {
  Jump(sprite, now_ms);
  sprite->vx = 0;
  sprite->vy *= kSpeechHop;
}

void JumpOffWall(Sprite* sprite, double now_ms) {
  TurnRound(sprite);
  sprite->vx = Forwards(*sprite) * sprite->nature.walk_speed * kWallJumpSide;
  sprite->vy = -sprite->nature.jump_speed * kWallJumpUp;
  SetMode(sprite, Mode::kFall, now_ms);
}

double LimitedSpeed(double speed) {
  return std::isnan(speed) ? 0 : std::clamp(speed, -kSpeedMax, kSpeedMax);
}

}  // namespace sprites
