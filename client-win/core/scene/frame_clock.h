// When to draw the next frame, in step with the screen's refreshes.
//
// Frames are due at refreshes of the screen: at every one, or at every n-th of a fast screen. A due
// time is counted from the frame before, not from the end of its turn, so a turn may take nearly as
// long as the frame lasts. Invariant: input makes the next frame come sooner, never later.
// Units: ms of one monotonic clock. Cost: O(1) a call.
#ifndef CLIENT_WIN_CORE_SCENE_FRAME_CLOCK_H_
#define CLIENT_WIN_CORE_SCENE_FRAME_CLOCK_H_

namespace sprites {

// Between two frames at least: a screen of up to 111 Hz is drawn at every refresh, one of 120, 144
// or 165 Hz at every second. The motion is computed 120 times a second.
constexpr double kFrameMsMin = 9;
constexpr double kTurnGapMs = 1;   // after a turn that took too long: other threads get a chance
constexpr double kTimerMs = 0.75;  // that a timer may fire early

constexpr double kRefreshMsMin = 1;    // 1000 Hz: a shorter period that a system reports is wrong
constexpr double kRefreshMsMax = 100;  // 10 Hz: a longer one is wrong

// Whether a screen can have this time between two refreshes.
constexpr bool IsRefreshPeriod(double ms) { return ms >= kRefreshMsMin && ms <= kRefreshMsMax; }

// The refreshes of a screen: at `at_ms`, and every `period_ms` before and after.
struct Refresh {
  double at_ms = 0;
  double period_ms = 1000.0 / 60;  // of a screen whose rate is not known
};

class FrameClock {
 public:
  // Halves the frame rate, to save power.
  void SetHalved(bool is_halved) { is_halved_ = is_halved; }
  // A turn begins: its frame counts for the refresh that has just been.
  void BeginTurn(double now_ms, const Refresh& refresh);
  // A turn has ended, and nothing moves for `idle_ms`. Returns when the next one is due.
  double EndTurn(double now_ms, double idle_ms);
  // The person has done something. Returns when the next turn is due now: at once, if the frame
  // before is long enough ago.
  double HandleInput(double now_ms);
  double due_ms() const { return due_ms_; }
  // Between two frames while something moves: a whole number of refreshes.
  double FrameMs() const;

 private:
  double EarliestMs() const;

  Refresh refresh_;
  bool is_halved_ = false;
  double frame_ms_ = 0;  // the refresh of the last frame
  double due_ms_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCENE_FRAME_CLOCK_H_
