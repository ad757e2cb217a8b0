#include "core/relay/stages/stage_switch.h"

#include "core/relay/backoff.h"
#include "core/text/json.h"

namespace sprites {

std::optional<SeatRequest> StageSwitch::DueRequest(std::optional<bool> shown,
                                                   std::optional<bool> wanted, int64_t now_ms,
                                                   RequestBudget* budget) {
  if (!wanted || !shown || *wanted == *shown || is_asking_ || now_ms < due_ms_ ||
      !budget->Allows(now_ms)) {
    return std::nullopt;
  }
  budget->Spend(now_ms);
  asked_ = *wanted;
  is_asking_ = true;
  return SeatRequest{Method::kPut, "/stage", WriteJson({{"stage", asked_}})};
}

std::optional<bool> StageSwitch::HandleResponse(const Response& response, int64_t now_ms,
                                                const Random& random) {
  is_asking_ = false;
  if (response.status != 204) {
    due_ms_ = now_ms + BackoffMs(failures_++, random);
    return std::nullopt;
  }
  failures_ = 0;
  return asked_;
}

}  // namespace sprites
