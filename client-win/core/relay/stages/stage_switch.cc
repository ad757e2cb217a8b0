#include "core/relay/stages/stage_switch.h"

#include "core/relay/backoff.h"
#include "core/relay/seat_request.h"
#include "core/text/json.h"

namespace sprites {

std::optional<Request> StageSwitch::DueRequest(const std::string& relay, const Seat& seat,
                                               std::optional<bool> wanted, int64_t now_ms,
                                               RequestBudget* budget, RequestId* next_id) {
  if (!wanted || !seat.stage || *wanted == *seat.stage || request_ != 0 || now_ms < due_ms_ ||
      !budget->Allows(now_ms)) {
    return std::nullopt;
  }
  budget->Spend(now_ms);
  asked_ = *wanted;
  Request request = SeatRequest(Method::kPut, DesktopUrl(relay, seat, "/stage"), seat.token,
                                WriteJson({{"stage", asked_}}), next_id);
  request_ = request.id;
  return request;
}

bool StageSwitch::HandleResponse(const Response& response, int64_t now_ms, const Random& random,
                                 std::optional<bool>* shown) {
  if (response.id == 0 || response.id != request_) {
    return false;
  }
  request_ = 0;
  if (response.status == 204) {
    failures_ = 0;
    *shown = asked_;
  } else {
    due_ms_ = now_ms + BackoffMs(failures_++, random);
  }
  return true;
}

}  // namespace sprites
