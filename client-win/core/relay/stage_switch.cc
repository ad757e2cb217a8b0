#include "core/relay/stage_switch.h"

#include "core/relay/backoff.h"
#include "core/text/json.h"
#include "core/text/text.h"

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
  request_ = (*next_id)++;
  Request request;
  request.id = request_;
  request.method = Method::kPut;
  request.url = relay + "/v1/desktops/" + PercentEncoded(seat.desktop) + "/stage";
  request.token = seat.token;
  request.content_type = "application/json";
  request.body = WriteJson({{"stage", asked_}});
  request.timeout_ms = kShortTimeoutMs;
  request.response_bytes_max = kResponseBytesMax;
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
