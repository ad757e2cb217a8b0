// What the first sprite says in a bubble: hello at the first start, that nobody is next door yet,
// and that the relay can't be reached.
//
// A function of the desktop's state and the time. Invariant: each text is shown once in a life of
// the program, and the first two only until Settings::greeted.
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
  // The person has grabbed a sprite, or has closed the bubble.
  void Dismiss(int64_t now_ms);
  // Whether everything is said that a new person needs. Settings::greeted is to be set then.
  bool IsDone() const { return is_done_; }

 private:
  enum class Stage : uint8_t { kNone, kWelcome, kAlone, kUnreachable };

  Stage StageAt(const Desktop& desktop, int64_t now_ms) const;

  Stage stage_ = Stage::kNone;
  bool was_shown_[4] = {};
  bool is_done_ = false;
  bool was_connected_ = false;
  std::optional<int64_t> begun_ms_;  // the first call
  int64_t since_ms_ = 0;             // when the present bubble came
  int64_t ended_ms_ = 0;             // when the last bubble went
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_WORDS_GREETING_H_
