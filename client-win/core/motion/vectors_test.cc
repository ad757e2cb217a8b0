// behaviour.vectors.json in this client's simulation; test/vectors.ts explains its fields,
// and plays it in the browser's.
#include "test/core/vectors.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/motion/behaviour.h"
#include "core/motion/simulation.h"
#include "core/relay/crossings/edges.h"

namespace sprites {
namespace {

constexpr int kFrameMs = 10;
constexpr double kTolerance = 1e-6;  // px, and px/s

const std::map<std::string, double>& Numbers() {
  static const std::map<std::string, double> numbers = {
      {"AIR_CONTROL", kAirControl},
      {"CATCH_PX", kCatchDip},
      {"CHASE_CHANCE", kChaseChance},
      {"SPEECH_HOP", kSpeechHop},
      {"LOOK_AROUND_CHANCE", kLookAroundChance},
      {"YAWN_CHANCE", kYawnChance},
      {"VISIT_CHANCE", kVisitChance},
      {"VISIT_PX", kVisitDip},
      {"VISIT_MS", kVisitMs},
      {"CHASE_MS", kChaseMs},
      {"CHASE_PACE", kChasePace},
      {"CHASE_PX", kChaseDip},
      {"EVENING_BORED_MS", kEveningBoredMs},
      {"EVENING_HOUR", kEveningHour},
      {"FLEE_PACE", kFleePace},
      {"GREETERS_MAX", kGreetersMax},
      {"GREET_MS", kGreetMs},
      {"GREET_PX", kGreetDip},
      {"HANG_CHANCE", kHangChance},
      {"HANG_MS", kHangMs},
      {"LOOK_MS", kLookMs},
      {"LOOK_PX", kLookDip},
      {"LOOK_TURN_PX", kLookTurnDip},
      {"MORNING_HOUR", kMorningHour},
      {"NAP_WALK_MS_MAX", kNapWalkMsMax},
      {"PET_MS", kPetMs},
      {"PET_PAUSE_MS", kPetPauseMs},
      {"PET_PX", kPetDip},
      {"PULL_UP_CHANCE", kPullUpChance},
      {"PULL_UP_HEIGHTS", kPullUpHeights},
      {"SIT_CHANCE", kSitChance},
      {"SIT_MS_MIN", kSitMsMin},
      {"SIT_MS_SPREAD", kSitMsSpread},
      {"SQUASH_SPEED_MIN", kSquashSpeedMin},
      {"TUMBLE_SPEED_MIN", kTumbleSpeedMin},
      {"WAVE_MS", kWaveMs},
      {"YAWN_MS", kYawnMs},
      {"THROWS_MS", kThrowsMs},
      {"DIZZY_THROWS", kDizzyThrows},
      {"BOLD_THROWS", kBoldThrows},
      {"REELS", kReels},
      {"REEL_MS", kReelMs},
      {"REEL_PACE", kReelPace},
      {"BOLD_PACE", kBoldPace},
      {"BOLD_HOP_CHANCE", kBoldHopChance},
      {"BOLD_CHASE_CHANCE", kBoldChaseChance},
      {"LONELY_MS", kLonelyMs},
      {"LONGING_CHANCE", kLongingChance},
      {"LONGING_MS", kLongingMs},
      {"BORED_MS", kBoredMs},
      {"BOUNCE_KEPT_X", kBounceKeptX},
      {"BOUNCE_SPEED_MIN", kBounceSpeedMin},
      {"BUMP_KEPT", kBumpKept},
      {"CLIMB_CHANCE", kClimbChance},
      {"CLIMB_MS_MIN", kClimbMsMin},
      {"CLIMB_MS_SPREAD", kClimbMsSpread},
      {"CLIMB_SPEED", kClimbSpeed},
      {"CROSSING_SPEED_MIN", kCrossingSpeedMin},
      {"DROP_PX", kDropDip},
      {"ENTRANCE_HEIGHTS", kEntranceHeights},
      {"ENTRANCE_SPEED_MIN", kEntranceSpeedMin},
      {"FACING_DRAG_PX", kFacingDragDip},
      {"FACING_SPEED_MIN", kFacingSpeedMin},
      {"FLOOR_THROW_SPEED_MIN", kFloorThrowSpeedMin},
      {"FRICTION", kFriction},
      {"HARD_LANDING_SPEED", kHardLandingSpeed},
      {"LANDING_MS", kLandingMs},
      {"OVERLAP_PARTS", kOverlapParts},
      {"PAUSE_MS_MIN", kPauseMsMin},
      {"PAUSE_MS_SPREAD", kPauseMsSpread},
      {"RETURNED_SPEED", kReturnedSpeed},
      {"RUN_FACTOR", kRunFactor},
      {"SLEEP_MS_MAX", kSleepMsMax},
      {"SPEED_MAX", kSpeedMax},
      {"STEER_MS", kSteerMs},
      {"STEPS_PER_CALL_MAX", kStepsPerCallMax},
      {"STEP_MS", kStepMs},
      {"SUPPORTED_PX", kSupportedPx},
      {"THROWN_PER_PX", kThrownPerDip},
      {"THROWN_RISE", kThrownRise},
      {"THROWN_SPEED", kThrownSpeed},
      {"TRAIL_MS", kTrailMs},
      {"TURN_CHANCE", kTurnChance},
      {"WAKING_SPEED", kWakingSpeed},
      {"WALK_MS_MIN", kWalkMsMin},
      {"WALK_MS_SPREAD", kWalkMsSpread},
      {"WALL_JUMP_SIDE", kWallJumpSide},
      {"WALL_JUMP_UP", kWallJumpUp},
      {"WALL_KEPT", kWallKept},
  };
  return numbers;
}

const Json& Vectors() {
  static const Json vectors = ReadVectors(VECTORS);
  return vectors;
}

// mulberry32, as in test/vectors.ts.
Random Lot(uint32_t seed) {
  return [state = seed]() mutable {
    state += 0x6d2b79f5;
    uint32_t t = (state ^ (state >> 15)) * (1 | state);
    t = (t + (t ^ (t >> 7)) * (61 | t)) ^ t;
    return (t ^ (t >> 14)) / 4294967296.0;
  };
}

Random InTurn(std::vector<double> numbers) {
  return [numbers = std::move(numbers), next = size_t{0}]() mutable {
    return numbers[next++ % numbers.size()];
  };
}

Mode ModeOf(const std::string& name) { return ModeNamed(name).value(); }

Nature NatureIn(const Json& own) {
  Json all = Vectors()["nature"];
  if (own.is_object()) {
    all.update(own);
  }
  return {all["width"],   all["height"], all["walkSpeed"], all["jumpSpeed"],
          all["gravity"], all["bounce"], all["hopChance"]};
}

std::vector<Ledge> LedgesIn(const Json& given) {
  std::vector<Ledge> ledges;
  for (const Json& ledge : given) {
    ledges.push_back({ledge["left"], ledge["right"], ledge["y"]});
  }
  return ledges;
}

// One scenario under way.
class Player {
 public:
  explicit Player(const Json& scenario)
      : scenario_(scenario),
        random_(scenario["random"].is_array() ? InTurn(scenario["random"])
                                              : Lot(scenario["random"]["seed"])) {
    const Rect all{0, 0, scenario["width"], scenario["height"]};
    simulation_.SetScreen(Screen(std::vector<Monitor>{{all, all, 1, true}}));
    simulation_.SetLedges(LedgesIn(scenario.value("ledges", Json::array())));
    simulation_.SetCalm(scenario.value("calm", false));
    if (scenario.contains("hour")) {
      simulation_.SetHour(scenario["hour"]);
    }
    for (const Json& start : scenario["sprites"]) {
      cast_.push_back(Begin(start));
    }
  }

  void Play() {
    int end = 0;
    for (const Json& ms : scenario_["look"]) {
      end = std::max(end, ms.get<int>());
    }
    for (const Json& action : scenario_["script"]) {
      end = std::max(end, action["ms"].get<int>());
    }
    size_t looked = 0;
    size_t left = 0;
    for (int ms = 0; ms <= end; ms += kFrameMs) {
      for (const Json& action : scenario_["script"]) {
        if (action["ms"] == ms) {
          Act(action);
        }
      }
      for (Departure& departure : simulation_.Step(ms + waited_ms_, random_)) {
        CAPTURE(left);
        REQUIRE(left < scenario_["expect"]["left"].size());
        CheckLeft(scenario_["expect"]["left"][left++], ms, departure);
        departures_.push_back(std::move(departure));
      }
      if (looked < scenario_["expect"]["at"].size() &&
          scenario_["expect"]["at"][looked]["ms"] == ms) {
        CAPTURE(ms);
        CheckSeen(scenario_["expect"]["at"][looked++]["sprites"]);
      }
    }
    CHECK(looked == scenario_["expect"]["at"].size());
    CHECK(left == scenario_["expect"]["left"].size());
  }

 private:
  SpriteId Begin(const Json& start) {
    NewSprite added;
    added.nature = NatureIn(start.value("nature", Json()));
    added.place = {start["x"], start["y"]};
    Sprite sprite = *simulation_.Find(simulation_.Add(added));
    sprite.vx = start.value("vx", 0.0);
    sprite.vy = start.value("vy", 0.0);
    sprite.mode = ModeOf(start.value("mode", "fall"));
    sprite.facing = start.value("facing", "right") == "left" ? Facing::kLeft : Facing::kRight;
    sprite.thrown = start.value("thrown", false);
    sprite.next_ms = start.value("nextMs", 1e9);
    simulation_.Put(sprite);
    return sprite.id;
  }

  void Act(const Json& action) {
    const std::string verb = action["do"];
    const SpriteId id = action.contains("sprite") ? cast_[action["sprite"].get<size_t>()] : kNobody;
    if (verb == "grab") {
      simulation_.Grab(id, {action["x"], action["y"]}, action["at"]);
    } else if (verb == "drag") {
      simulation_.Drag({action["x"], action["y"]}, action["at"]);
    } else if (verb == "release") {
      simulation_.Release(action["at"]);
    } else if (verb == "throw") {
      simulation_.ThrowTo(id, EdgeNamed(action["edge"]).value());
    } else if (verb == "speak") {
      simulation_.Speak(id);
    } else if (verb == "wave") {
      simulation_.Wave(id, action["facing"] == "left" ? Facing::kLeft : Facing::kRight);
    } else if (verb == "steer") {
      const std::map<std::string, SteerKey> keys = {{"left", SteerKey::kLeft},
                                                    {"right", SteerKey::kRight},
                                                    {"jump", SteerKey::kJump},
                                                    {"drop", SteerKey::kDrop}};
      simulation_.Steer(id, keys.at(action["key"]), action["down"]);
    } else if (verb == "point") {
      simulation_.MovePointer({action["x"], action["y"]});
    } else if (verb == "ledges") {
      simulation_.SetLedges(LedgesIn(action["ledges"]));
    } else if (verb == "pass") {
      waited_ms_ += action["wait"].get<double>();
    } else if (verb == "return") {
      simulation_.BounceBack(departures_.back());
    } else if (verb == "enter") {
      Sprite sprite;
      sprite.nature = NatureIn(action.value("nature", Json()));
      sprite.next_ms = 1e9;
      sprite.journey.hops = action.value("hops", 0);
      Entrance entrance{EdgeNamed(action["edge"]).value(), action["at"], action["vx"],
                        action["vy"]};
      entrance.is_home = action.value("isHome", false);
      cast_.push_back(simulation_.Enter(sprite, entrance));
    } else {
      FAIL("no action " << verb);
    }
  }

  void CheckLeft(const Json& expected, int ms, const Departure& departure) const {
    CHECK(expected["ms"] == ms);
    CHECK(cast_[expected["sprite"].get<size_t>()] == departure.sprite.id);
    CHECK(EdgeNamed(expected["edge"]) == departure.edge);
    CheckClose(expected, "at", departure.at);
    CheckClose(expected, "vx", departure.vx);
    CheckClose(expected, "vy", departure.vy);
  }

  void CheckSeen(const Json& expected) const {
    REQUIRE(expected.size() == cast_.size());
    for (size_t i = 0; i < cast_.size(); i++) {
      CAPTURE(i);
      const Sprite* sprite = simulation_.Find(cast_[i]);
      CHECK((sprite == nullptr) == expected[i].is_null());
      if (sprite == nullptr || expected[i].is_null()) {
        continue;
      }
      CheckClose(expected[i], "x", sprite->x);
      CheckClose(expected[i], "y", sprite->y);
      CheckClose(expected[i], "vx", sprite->vx);
      CheckClose(expected[i], "vy", sprite->vy);
      CHECK(ModeOf(expected[i]["mode"]) == sprite->mode);
      CHECK((expected[i]["facing"] == "left") == (sprite->facing == Facing::kLeft));
      CHECK(expected[i]["thrown"] == sprite->thrown);
      CHECK(expected[i].value("animation", RulesOf(sprite->mode).animation) ==
            std::string(AnimationOf(*sprite)));
    }
  }

  static void CheckClose(const Json& expected, const char* name, double actual) {
    CAPTURE(name);
    const double wanted = expected[name];
    CHECK(std::abs(wanted - actual) <= kTolerance);
  }

  const Json& scenario_;
  Random random_;
  Simulation simulation_;
  std::vector<SpriteId> cast_;
  std::vector<Departure> departures_;
  double waited_ms_ = 0;
};

TEST_CASE("behaviour › has the numbers of the vectors") {
  for (const auto& constant : Vectors()["constants"].items()) {
    const std::string& name = constant.key();
    CAPTURE(name);
    REQUIRE(Numbers().contains(name));
    CHECK(Numbers().at(name) == constant.value().get<double>());
  }
  CHECK(Numbers().size() == Vectors()["constants"].size());
}

TEST_CASE("behaviour › has the animations of the vectors, and what replaces a missing one") {
  CHECK(AnimationTable().size() == Vectors()["animations"].size());
  for (const auto& item : Vectors()["animations"].items()) {
    const std::string name = item.key();
    const Json& playing = item.value();
    CAPTURE(name);
    const AnimationRules* rules = AnimationRulesOf(name);
    REQUIRE(rules != nullptr);
    CHECK(playing["instead"] == rules->instead);
    CHECK(playing["once"] == rules->plays_once);
  }
}

TEST_CASE("behaviour › does what the vectors say") {
  for (const Json& scenario : Vectors()["scenarios"]) {
    SUBCASE(scenario["name"].get<std::string>().c_str()) { Player(scenario).Play(); }
  }
}

}  // namespace
}  // namespace sprites
