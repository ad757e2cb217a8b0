#include "core/relay/swaps.h"

#include "core/text/json.h"
#include "core/text/text.h"
#include "wire/rules.h"

namespace sprites {

std::optional<SeatRequest> Swaps::Ask(const Goal& whom) {
  if (is_asking_) {
    return std::nullopt;
  }
  const Json body = {{"name", whom.name}, {"column", whom.column}, {"row", whom.row}};
  is_asking_ = true;
  asked_ = PlainText(whom.name, rules::kNameBytesMax);
  return SeatRequest{Method::kPost, "/swap", WriteJson(body)};
}

SeatRequest Swaps::Answer(const Neighbour& asker, bool is_accepted) {
  const Json body = {{"from", asker.desktop}, {"accept", is_accepted}};
  asker_.reset();
  return {Method::kPut, "/swap", WriteJson(body)};
}

Swaps::Result Swaps::HandleAsked(const Response& response) {
  is_asking_ = false;
  const Json accepted = AcceptedBody(response);
  const bool is_done = MemberOf(accepted, "swap") == "done";
  return {response.status == 409 ? Outcome::kGone
          : accepted.is_null()   ? Outcome::kLater
          : is_done              ? Outcome::kDone
                                 : Outcome::kAsked,
          asked_};
}

std::optional<Swaps::Result> Swaps::HandleAnswered(const Response& response,
                                                   const std::string& asker) {
  if (response.status == 204) {
    return std::nullopt;
  }
  return Result{response.status == 409 ? Outcome::kOver : Outcome::kLater, asker};
}

void Swaps::HandleEvent(const SwapEvent& event, int64_t now_ms) {
  asker_ = event.from;
  asks_until_ms_ = now_ms + event.lease_ms;
}

const Neighbour* Swaps::Asker(int64_t now_ms) const {
  return asker_ && now_ms < asks_until_ms_ ? &*asker_ : nullptr;
}

}  // namespace sprites
