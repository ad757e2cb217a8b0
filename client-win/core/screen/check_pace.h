// How often a shell looks where the windows of other programs are, when the system does not report
// every move of them.
#ifndef CLIENT_WIN_CORE_SCREEN_CHECK_PACE_H_
#define CLIENT_WIN_CORE_SCREEN_CHECK_PACE_H_

#include <cstdint>

namespace sprites {

constexpr int64_t kCheckMsMoving = 33;  // a sprite stands on a window, and windows move
constexpr int64_t kCheckMs = 100;       // windows have moved just now, or the person does something
constexpr int64_t kCheckMsQuiet = 250;  // nothing happens
constexpr int64_t kQuietAfterMs = 2'000;  // since the last move, and since the last input

// The ms between two looks. `move_age_ms`: since a window was last seen to have moved;
// `input_age_ms`: since the person last used the pointer or the keyboard.
constexpr int64_t CheckMs(bool is_on_window, int64_t move_age_ms, int64_t input_age_ms) {
  const bool has_moved = move_age_ms < kQuietAfterMs;
  return has_moved && is_on_window                   ? kCheckMsMoving
         : has_moved || input_age_ms < kQuietAfterMs ? kCheckMs
                                                     : kCheckMsQuiet;
}

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCREEN_CHECK_PACE_H_
