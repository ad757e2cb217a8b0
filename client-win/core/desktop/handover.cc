#include "core/desktop/handover.h"

namespace sprites {

Handover HandOver(OtherInstance* other) {
  const int64_t until_ms = other->NowMs() + kHandoverMsMax;
  for (int64_t wait_ms = 0; other->NowMs() < until_ms; wait_ms = kHandoverRetryMs) {
    if (other->HasEnded(wait_ms)) {
      return Handover::kIsFirst;
    }
    if (other->Send()) {
      return Handover::kSent;
    }
  }
  return Handover::kFailed;
}

}  // namespace sprites
