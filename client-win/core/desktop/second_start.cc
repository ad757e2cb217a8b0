#include "core/desktop/second_start.h"

#include <chrono>

namespace sprites {

int64_t SteadyMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

StartOutcome StartBeside(const OtherInstance& other) {
  const int64_t until_ms = other.now_ms() + kSecondStartMsMax;
  for (int64_t wait_ms = 0; other.now_ms() < until_ms; wait_ms = kSecondStartRetryMs) {
    if (other.has_ended(wait_ms)) {
      return StartOutcome::kIsFirst;
    }
    if (other.send()) {
      return StartOutcome::kSent;
    }
  }
  return StartOutcome::kFailed;
}

}  // namespace sprites
