#include "core/desktop/second_start.h"

namespace sprites {

StartOutcome StartBeside(OtherInstance* other) {
  const int64_t until_ms = other->NowMs() + kSecondStartMsMax;
  for (int64_t wait_ms = 0; other->NowMs() < until_ms; wait_ms = kSecondStartRetryMs) {
    if (other->HasEnded(wait_ms)) {
      return StartOutcome::kIsFirst;
    }
    if (other->Send()) {
      return StartOutcome::kSent;
    }
  }
  return StartOutcome::kFailed;
}

}  // namespace sprites
