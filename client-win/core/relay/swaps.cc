#include "core/relay/swaps.h"

#include <utility>

#include "core/relay/seat_request.h"
#include "core/text/json.h"
#include "core/text/text.h"
#include "wire/rules.h"

namespace sprites {

std::optional<Request> Swaps::Ask(const std::string& relay, const Seat& seat, const Goal& whom,
                                  RequestId* next_id) {
  if (question_ != 0) {
    return std::nullopt;
  }
  const Json body = {{"name", whom.name}, {"column", whom.column}, {"row", whom.row}};
  Request request = SeatRequest(Method::kPost, DesktopUrl(relay, seat, "/swap"), seat.token,
                                WriteJson(body), next_id);
  question_ = request.id;
  asked_ = PlainText(whom.name, rules::kNameBytesMax);
  return request;
}

std::optional<Request> Swaps::Answer(const std::string& relay, const Seat& seat, bool is_accepted,
                                     RequestId* next_id) {
  if (!asker_) {
    return std::nullopt;
  }
  const Neighbour asker = *std::exchange(asker_, std::nullopt);
  const Json body = {{"from", asker.desktop}, {"accept", is_accepted}};
  Request request = SeatRequest(Method::kPut, DesktopUrl(relay, seat, "/swap"), seat.token,
                                WriteJson(body), next_id);
  answer_ = request.id;
  answered_ = asker.DisplayName();
  return request;
}

bool Swaps::HandleResponse(const Response& response, std::optional<Result>* result) {
  if (response.id == 0 || (response.id != question_ && response.id != answer_)) {
    return false;
  }
  if (response.id == answer_) {
    answer_ = 0;
    if (response.status != 204) {
      *result = {response.status == 409 ? Outcome::kOver : Outcome::kLater, answered_};
    }
    return true;
  }
  question_ = 0;
  const Json accepted = AcceptedBody(response);
  const bool is_done = MemberOf(accepted, "swap") == "done";
  *result = {response.status == 409 ? Outcome::kGone
             : accepted.is_null()   ? Outcome::kLater
             : is_done              ? Outcome::kDone
                                    : Outcome::kAsked,
             asked_};
  return true;
}

void Swaps::HandleEvent(const SwapEvent& event, int64_t now_ms) {
  asker_ = event.from;
  asks_until_ms_ = now_ms + event.lease_ms;
}

const Neighbour* Swaps::Asker(int64_t now_ms) const {
  return asker_ && now_ms < asks_until_ms_ ? &*asker_ : nullptr;
}

}  // namespace sprites
