// How sprites behave: the numbers of BEHAVIOUR.md and the table of modes.
//
// server/web/motion/simulation.ts has the same numbers; behaviour.vectors.json tests both.
#ifndef CLIENT_WIN_CORE_MOTION_BEHAVIOUR_H_
#define CLIENT_WIN_CORE_MOTION_BEHAVIOUR_H_

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "core/motion/sprite.h"

namespace sprites {

// Returns random numbers from 0 up to, but not including, 1.
using Random = std::function<double()>;

constexpr double kStepMs = 1000.0 / 120;     // so that no throw passes through a ledge
constexpr int kStepsPerCallMax = 12;         // after a long pause the rest of the time is dropped
constexpr double kTrailMs = 100;             // of the pointer's path determine the speed of a throw
constexpr double kCrossingSpeedMin = 220;    // dip/s across an edge: a push, not a stumble
constexpr double kFloorThrowSpeedMin = 900;  // dip/s downwards: falling alone never goes through
constexpr double kSpeedMax = 6000;           // dip/s: across a wide screen in a third of a second
constexpr double kEntranceSpeedMin = 240;    // dip/s inwards: enough to be seen coming in
constexpr double kBoredMs = 90'000;          // without being touched until a sprite falls asleep
constexpr double kSleepMsMax = 40'000;       // of sleep, until it wakes by itself
constexpr double kLandingMs = 330;           // the landing animation lasts
constexpr double kHardLandingSpeed = 320;    // dip/s: a faster landing shows its animation
constexpr double kThumpFactor = 1.15;        // times its jump speed: a landing that can be heard
constexpr double kBounceSpeedMin = 180;      // dip/s after a bounce: a slower sprite comes to rest
constexpr double kFriction = 1300;           // dip/s² on the ground
constexpr double kWakingSpeed = 120;         // dip/s of a bump that wakes a sleeping sprite
constexpr double kRunFactor = 2.4;           // times its walking speed, when steered
constexpr double kSteerMs = 8'000;           // a steered sprite stands still after the last key
constexpr double kBumpKept = 0.7;            // fraction of the speed that a bump hands on
constexpr double kOverlapParts = 20;         // of an overlap: each of the two moves by one a step
constexpr double kAirControl = 700;          // dip/s² sideways that keys give a sprite in the air
constexpr double kThrownSpeed = 700;         // dip/s of a throw by key, at least
constexpr double kThrownPerDip = 1.2;        // dip/s more for each dip to the edge
constexpr double kThrownRise = 360;          // dip/s upwards of a throw by key to the left or right
constexpr double kBounceKeptX = 0.8;         // fraction of the horizontal speed that a bounce keeps
constexpr double kClimbSpeed = 0.8;          // times its walking speed
constexpr double kClimbChance = 0.4;  // that it climbs a wall it walks into; else it turns round
constexpr double kClimbMsMin = 1200;
constexpr double kClimbMsSpread = 3000;
constexpr double kWalkMsMin = 900;
constexpr double kWalkMsSpread = 3600;
constexpr double kPauseMsMin = 800;
constexpr double kPauseMsSpread = 2600;
constexpr double kTurnChance = 0.5;     // that it turns round before a walk
constexpr double kWallKept = 0.3;       // fraction of the speed kept at a wall, at least
constexpr double kWallJumpSide = 2;     // times its walking speed, away from a wall it climbed
constexpr double kWallJumpUp = 0.35;    // times its jump speed, off a wall
constexpr double kEntranceHeights = 2;  // its own heights that it rises at least, coming from below
constexpr double kReturnedSpeed = 0.5;  // times its speed, when it is refused and comes back
constexpr double kFacingSpeedMin = 40;  // dip/s sideways: a faster throw turns its face
constexpr double kFacingDragDip = 4;    // dip in kTrailMs: a longer drag turns its face
constexpr double kSupportedPx = 0.5;    // px that a foot may be off its ground
constexpr double kDropDip = 1;          // dip that a sprite is lowered to let go of a ledge
constexpr double kTumbleSpeedMin = 420;  // dip/s onto the ground: a thrown sprite tumbles
constexpr double kSquashSpeedMin = 900;  // dip/s onto the ground: a sprite is squashed
constexpr double kSitChance = 0.35;      // that it sits down on a ledge or at a ledge's end
constexpr double kSitMsMin = 4000;
constexpr double kSitMsSpread = 8000;
constexpr double kHangChance = 0.25;        // that it lets itself down at a ledge's end
constexpr double kHangMs = 2600;            // that it hangs there
constexpr double kPullUpChance = 0.6;       // that it then swings itself up; else it lets go
constexpr double kPullUpHeights = 1.3;      // its own heights: just above the ledge
constexpr double kLookDip = 220;            // to a moving pointer that it looks at
constexpr double kLookMs = 1500;            // that it goes on looking after the pointer stopped
constexpr double kLookTurnDip = 6;          // sideways to the pointer: it turns its face
constexpr double kPetDip = 120;             // of stroking before it is petted
constexpr double kPetPauseMs = 600;         // between two movements of one stroke, at most
constexpr double kPetMs = 900;              // that it enjoys the last stroke
constexpr double kEveningHour = 21;         // of the local time: sprites are tired from then on
constexpr double kMorningHour = 6;          // until this hour
constexpr double kEveningBoredMs = 15'000;  // without being touched until a tired sprite yawns
constexpr double kYawnMs = 1600;
constexpr double kNapWalkMsMax = 15'000;  // to its corner; then it sleeps where it is
constexpr double kGreetDip = 320;         // to an arrival within which sprites wave at it
constexpr int kGreetersMax = 3;           // that wave at one arrival
constexpr double kWaveMs = 1400;
constexpr double kGreetMs = 1200;          // that an arrival greets back
constexpr double kChaseDip = 360;          // to a sprite on the same ground that may be chased
constexpr double kChaseChance = 0.12;      // that it chases another instead of taking a walk
constexpr double kChaseMs = 4000;          // of a chase at most
constexpr double kChasePace = 1.8;         // in walking speeds: of the one that chases
constexpr double kFleePace = 1.4;          // in walking speeds: of the one that runs away
constexpr double kCatchDip = 6;            // between the two when it is caught
constexpr double kSpeechHop = 0.4;         // of its jump speed: a speaker hops
constexpr double kLookAroundChance = 0.2;  // that it turns round and looks there
constexpr double kYawnChance = 0.06;       // that it yawns and stretches
constexpr double kVisitChance = 0.25;   // that it visits a sprite that is too far away for a chase
constexpr double kVisitDip = 1200;      // to a sprite on the same ground that may be visited
constexpr double kVisitMs = 20'000;     // that it walks there at most
constexpr double kThrowsMs = 60'000;    // for which it knows how often it was thrown
constexpr int kDizzyThrows = 3;         // from which on it is dizzy when it has landed
constexpr int kBoldThrows = 6;          // from which on it is used to them, and bold
constexpr int kReels = 6;               // turns of a dizzy sprite
constexpr double kReelMs = 320;         // from one to the next
constexpr double kReelPace = 0.7;       // in walking speeds
constexpr double kBoldPace = 1.3;       // in walking speeds: it does not turn round for others
constexpr double kBoldHopChance = 0.4;  // that a bold sprite hops, at least
constexpr double kBoldChaseChance = 0.5;  // that a bold sprite chases another
constexpr double kLonelyMs = 45'000;  // without being touched: a guest looks for where it came from
constexpr double kLongingChance = 0.3;  // that it then goes there instead of taking a walk
constexpr double kLongingMs = 4000;     // that it waves there

// The rules of one mode.
struct ModeRules {
  const char* animation;  // of the .spr, except where AnimationOf says another
  Mode mode;
  bool on_feet;       // stands on something, and falls when that is gone
  bool collides;      // with other sprites
  bool at_leisure;    // has time for others: may look, wave and be chased
  bool pauses_after;  // stands still for a while when it is over
};

const ModeRules& RulesOf(Mode mode);
// The rules of all modes, in the order of Mode.
std::span<const ModeRules> BehaviourTable();
// The mode whose animation has this name; nothing for a name that no mode has.
std::optional<Mode> ModeNamed(std::string_view animation);

// How an animation is played. Only `idle` is required of a .spr: every name leads to it.
struct AnimationRules {
  const char* name;
  const char* instead;  // what is played when a .spr has no animation of this name
  bool plays_once;      // it stops at its last frame
};

// The animations that desktops play.
std::span<const AnimationRules> AnimationTable();
// Null for an animation that desktops do not play.
const AnimationRules* AnimationRulesOf(std::string_view name);
// The name of the animation that shows what a sprite does.
const char* AnimationOf(const Sprite& sprite);

// Decides what a sprite on its feet does next: walk, hop, stand, or sleep when nothing has touched
// it for long. A `calm` sprite does not walk or hop by itself.
void Decide(Sprite* sprite, double now_ms, bool calm, const Random& random);

void SetMode(Sprite* sprite, Mode mode, double now_ms);
// Lets it walk for some ms, at its own speed.
void StartWalk(Sprite* sprite, double now_ms, double ms);
void StartSleep(Sprite* sprite, double now_ms, const Random& random);
// Ends hanging: it swings itself up onto the ledge, or falls.
void LetGo(Sprite* sprite, bool up, double now_ms);
void Jump(Sprite* sprite, double now_ms);
void HopOnSpot(Sprite* sprite, double now_ms);
void JumpOffWall(Sprite* sprite, double now_ms);
void TurnRound(Sprite* sprite);

// How often it was thrown in a row, until it has had kThrowsMs of rest.
int64_t ThrowsOf(const Sprite& sprite, double now_ms);
void CountThrows(Sprite* sprite, int64_t throws, double now_ms);
bool IsBold(const Sprite& sprite, double now_ms);
// Does what it has to do after its landing: it reels, hops because it is at home, or greets. False
// when that is nothing.
bool ComeRound(Sprite* sprite, double now_ms, bool calm);

// `speed` within ±kSpeedMax; 0 when it is not a number.
double LimitedSpeed(double speed);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_MOTION_BEHAVIOUR_H_
