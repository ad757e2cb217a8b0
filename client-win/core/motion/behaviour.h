// How sprites behave: the numbers of BEHAVIOUR.md and the table of modes.
//
// The same numbers stand in server/web/simulation.ts; behaviour.vectors.json holds both to them.
#ifndef CLIENT_WIN_CORE_MOTION_BEHAVIOUR_H_
#define CLIENT_WIN_CORE_MOTION_BEHAVIOUR_H_

#include <functional>
#include <span>

#include "core/motion/sprite.h"

namespace sprites {

// Numbers from 0 up to, not including, 1.
using Random = std::function<double()>;

constexpr double kStepMs = 1000.0 / 120;   // no thrown sprite passes a ledge of its own height
constexpr int kStepsPerCallMax = 12;       // after a long pause time is dropped, not caught up with
constexpr double kTrailMs = 100;           // of the pointer's path make the speed of a throw
constexpr double kCrossingSpeedMin = 220;  // dip/s across an edge: a push, not a stumble
constexpr double kFloorThrowSpeedMin = 900;  // dip/s downwards: falling alone never goes through
constexpr double kSpeedMax = 6000;           // dip/s: across a wide screen in a third of a second
constexpr double kEntranceSpeedMin = 240;    // dip/s inwards: enough to be seen coming in
constexpr double kBoredMs = 40'000;          // without company until a sprite falls asleep
constexpr double kSleepMsMax = 60'000;       // of sleep until it wakes by itself
constexpr double kLandingMs = 330;           // of the landing animation
constexpr double kHardLandingSpeed = 320;    // dip/s: from here on a landing is felt
constexpr double kBounceSpeedMin = 180;      // dip/s after a bounce: slower ones come to rest
constexpr double kFriction = 1300;           // dip/s² on the ground
constexpr double kWakingSpeed = 120;         // dip/s of a bump that wakes a sleeper
constexpr double kRunFactor = 2.4;           // walking speeds a steered sprite runs at
constexpr double kSteerMs = 8'000;           // a steered sprite keeps still after the last key
constexpr double kBumpKept = 0.7;            // of the speed that is handed on in a bump
constexpr double kOverlapParts = 20;         // steps in which two who overlap are moved apart
constexpr double kAirControl = 700;    // dip/s² a steered sprite pushes itself sideways in the air
constexpr double kThrownSpeed = 700;   // dip/s of a throw by key, besides what the way asks for
constexpr double kThrownPerDip = 1.2;  // dip/s more for each dip of the way to the edge
constexpr double kThrownRise = 360;    // dip/s upwards of a throw by key to a side
constexpr double kBounceKeptX = 0.8;   // of the speed along the ground in a bounce
constexpr double kClimbSpeed = 0.8;    // of the walking speed
constexpr double kClimbChance = 0.4;   // of climbing a wall it walks into rather than turning round
constexpr double kClimbMsMin = 1200;
constexpr double kClimbMsSpread = 3000;
constexpr double kWalkMsMin = 900;
constexpr double kWalkMsSpread = 3600;
constexpr double kPauseMsMin = 800;
constexpr double kPauseMsSpread = 2600;
constexpr double kHopChance = 0.12;     // of a hop rather than a walk
constexpr double kTurnChance = 0.5;     // of turning round before a walk
constexpr double kWallKept = 0.3;       // of the speed at a wall at least, whatever the nature
constexpr double kWallJumpSide = 2;     // walking speeds away from a wall it climbed
constexpr double kWallJumpUp = 0.35;    // of its jump, off a wall
constexpr double kEntranceHeights = 2;  // of its own height it rises at least, coming from below
constexpr double kReturnedSpeed = 0.5;  // of its speed, coming back refused
constexpr double kFacingSpeedMin = 40;  // dip/s sideways of a throw that turn its face
constexpr double kFacingDragDip = 4;    // dip the pointer moves in kTrailMs to turn its face
constexpr double kSupportedPx = 0.5;    // px a foot may be off its ground
constexpr double kDropDip = 1;          // dip a sprite is lowered to let go of a ledge

// The rules of a mode, one row each.
struct ModeRules {
  const char* animation;  // of the .spr; one that is missing is played as `idle`
  Mode mode;
  bool on_feet;     // stands on something, and falls when it is gone
  bool collides;    // bumps into others
  bool plays_once;  // its animation stops at the last frame
};

const ModeRules& RulesOf(Mode mode);
// All of them, in the order of Mode.
std::span<const ModeRules> BehaviourTable();

// What a sprite on its feet does next of its own will: stroll, hop, look about, and sleep when
// nobody has come by for long. `calm`: nobody wanders by itself.
void Decide(Sprite* sprite, double now_ms, bool calm, const Random& random);

void Become(Sprite* sprite, Mode mode, double now_ms);
void Jump(Sprite* sprite, double now_ms);
void JumpOffWall(Sprite* sprite, double now_ms);

// A speed within kSpeedMax either way; nonsense (not a number) is standing still.
double LimitedSpeed(double speed);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_MOTION_BEHAVIOUR_H_
