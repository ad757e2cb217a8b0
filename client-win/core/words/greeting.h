// What the first sprite says in a bubble: at the first start how to play, step by step, and the
// name that others see; that nobody is next door yet, and that the relay can't be reached.
//
// A function of the desktop's state and the time. Invariant: each text is shown once in a life of
// the program, and all but the last one only until Settings::greeted. A step comes when the person
// has done the one before, or has let it pass.
#ifndef CLIENT_WIN_CORE_WORDS_GREETING_H_
#define CLIENT_WIN_CORE_WORDS_GREETING_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/desktop/desktop.h"

namespace sprites {

constexpr int64_t kBubbleMs = 15'000;      // a bubble is shown: time to read it three times
constexpr int64_t kFirstBubbleMs = 1'500;  // until the first sprite has landed
constexpr int64_t kAloneMs = 8'000;        // from one bubble to the next

class Greeting {
 public:
  // The text to show now, beside the first sprite; empty for none.
  std::string Update(const Desktop& desktop, int64_t now_ms);
  // The person has closed the bubble, or has grabbed a sprite: then a step that is not done stays.
  void Dismiss(int64_t now_ms, bool is_grab = false);
  // Whether everything is said that a new person needs. Settings::greeted is to be set then.
  bool IsDone() const { return is_done_; }

 private:
  enum class Stage : uint8_t { kNone, kDrag, kStroke, kThrow, kName, kAlone, kUnreachable };

  static bool IsDone(Stage stage, const Desktop& desktop);
  Stage StageAt(const Desktop& desktop, int64_t now_ms) const;

  Stage stage_ = Stage::kNone;
  bool was_shown_[7] = {};
  bool is_done_ = false;
  bool was_connected_ = false;
  std::optional<int64_t> begun_ms_;  // the first call
  int64_t since_ms_ = 0;             // when the present bubble came
  int64_t ended_ms_ = 0;             // when the last bubble went
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_WORDS_GREETING_H_
