#include "core/motion/behaviour.h"

#include <algorithm>
#include <cmath>

namespace sprites {

namespace {

constexpr ModeRules kTable[kModes] = {
    {"idle", Mode::kIdle, true, true, false},   {"walk", Mode::kWalk, true, true, false},
    {"fall", Mode::kFall, false, true, false},  {"drag", Mode::kDrag, false, false, false},
    {"land", Mode::kLand, true, true, true},    {"climb", Mode::kClimb, false, true, false},
    {"sleep", Mode::kSleep, true, true, false},
};

double Forwards(const Sprite& sprite) { return sprite.facing == Facing::kLeft ? -1 : 1; }

void TurnRound(Sprite* sprite) {
  sprite->facing = sprite->facing == Facing::kLeft ? Facing::kRight : Facing::kLeft;
}

double SleepMs(const Random& random) { return kSleepMsMax * (0.5 + random() / 2); }

}  // namespace

const ModeRules& RulesOf(Mode mode) { return kTable[static_cast<size_t>(mode)]; }

std::span<const ModeRules> BehaviourTable() { return kTable; }

void Decide(Sprite* sprite, double now_ms, bool calm, const Random& random) {
  const bool bored = now_ms - sprite->touched_ms > kBoredMs;
  const bool was_asleep = sprite->mode == Mode::kSleep;
  if (was_asleep) {
    sprite->touched_ms = now_ms - kBoredMs * random();
  }
  if (sprite->mode == Mode::kWalk || sprite->mode == Mode::kLand || was_asleep || calm) {
    SetMode(sprite, bored && !was_asleep ? Mode::kSleep : Mode::kIdle, now_ms);
    sprite->next_ms =
        now_ms +
        (sprite->mode == Mode::kSleep ? SleepMs(random) : kPauseMsMin + kPauseMsSpread * random());
  } else if (bored) {
    SetMode(sprite, Mode::kSleep, now_ms);
    sprite->next_ms = now_ms + SleepMs(random);
  } else if (random() < kHopChance) {
    Jump(sprite, now_ms);
    sprite->vx = Forwards(*sprite) * sprite->nature.walk_speed;
  } else {
    if (random() < kTurnChance) {
      TurnRound(sprite);
    }
    SetMode(sprite, Mode::kWalk, now_ms);
    sprite->next_ms = now_ms + kWalkMsMin + kWalkMsSpread * random();
  }
}

void SetMode(Sprite* sprite, Mode mode, double now_ms) {
  if (sprite->mode != mode) {
    sprite->mode = mode;
    sprite->since_ms = now_ms;
  }
}

void Jump(Sprite* sprite, double now_ms) {
  sprite->vy = -sprite->nature.jump_speed;
  SetMode(sprite, Mode::kFall, now_ms);
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
