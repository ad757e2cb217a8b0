// The end of a desktop's seat: what it must not lose, and must not keep twice, when it goes to
// another place or when the program ends. The rules are in BEHAVIOUR.md.
#include <utility>

#include "core/desktop/desktop.h"

namespace sprites {

// Gives up the seat, and joins as the settings say now, as soon as the relay has said what was
// acknowledged. What was thrown from the seat keeps it: see departures.h.
void Desktop::Rejoin() {
  RequestId leave_request = 0;
  traffic_.BounceUploads();
  if (context_.relay.seat()) {
    context_.saves_now = true;
    if (context_.relay.poller.OwesPoll()) {
      traffic_.TakeBackBatch();  // the relay passes it on, because it was never acknowledged
    }
    leave_request = context_.next_request++;
    SendForSeat(context_.relay.poller.LeaveRequest(leave_request));
    context_.outbox.saved_state = StateToSave(false);
  }
  if (context_.relay.poller.IsInDoubt() && !context_.relay.poller.OwesPoll()) {
    former_ = {std::move(context_.relay.poller), leave_request, context_.now_ms};
  } else if (context_.relay.poller.under_way() != 0) {
    context_.outbox.cancelled.push_back(context_.relay.poller.under_way());
  }
  context_.relay.poller = Poller(context_.settings.relay, JoinOptionsNow(), context_.random);
  peeking_.ForgetRelay();
  context_.relay.neighbours.reset();
  context_.relay.name.clear();
  ForgetRelayState();
}

void Desktop::Leave() {
  if (leaving_ != Leaving::kNot) {
    return;
  }
  leaving_ = Leaving::kAsking;
  leaving_ms_ = context_.now_ms;
  context_.open_requests.End(Until::kProgramEnds);
  traffic_.BounceUploads();
  traffic_.RetryNow();
  if (context_.relay.poller.under_way() == 0) {
    context_.relay.poller.RetryNow();
  }
  context_.saves_now = true;
  GoOnLeaving();
}

// The seat is in the saved state until the relay has said that it has ended. Should the program end
// before, the next start goes on with it, or learns what the relay has passed on.
void Desktop::GoOnLeaving() {
  SaveIfDue();
  traffic_.SendDepartures();
  EndFormerSeat();
  // What is here must be acknowledged before the relay passes it on.
  SendForSeat(context_.relay.poller.LastPoll(context_.now_ms, &context_.next_request));
  // A seat that is about to be granted would stay for a lease, with nobody in it.
  const bool is_joining = !context_.relay.seat() && context_.relay.poller.under_way() != 0;
  const bool is_answered =
      !is_joining && traffic_.on_the_way() == 0 && !context_.relay.poller.OwesPoll() && !former_;
  if (leaving_ == Leaving::kAsking &&
      (is_answered || context_.now_ms - leaving_ms_ >= kVerdictsMsMax)) {
    leaving_ = Leaving::kGoing;
    leaving_ms_ = context_.now_ms;
    if (context_.relay.seat()) {
      leave_request_ = context_.next_request++;
      SendForSeat(context_.relay.poller.LeaveRequest(leave_request_));
    }
  }
  const bool is_gone =
      leave_request_ == 0 && (!context_.relay.seat() || context_.relay.poller.under_way() == 0);
  if (leaving_ == Leaving::kGoing && (is_gone || context_.now_ms - leaving_ms_ >= kFarewellMsMax)) {
    leaving_ = Leaving::kDone;
  }
}

// Asks what the seat before had acknowledged, until the relay has said so, or for long enough.
void Desktop::EndFormerSeat() {
  if (!former_) {
    return;
  }
  Poller& poller = former_->poller;
  SendForSeat(poller.LastPoll(context_.now_ms, &context_.next_request));
  if (!poller.IsInDoubt() || context_.now_ms - former_->since_ms >= kFarewellMsMax) {
    if (poller.under_way() != 0) {
      context_.outbox.cancelled.push_back(poller.under_way());
    }
    former_.reset();
  }
}

// What a response means for a seat that is given up; nothing when it is to another request. `leave`
// is the request that gives it up. Nothing comes in any more: what the relay sends now stays with
// it, and goes on to others.
std::optional<News> Desktop::HandleEnding(const Response& response, Poller* poller,
                                          RequestId* leave) {
  if (response.id != 0 && response.id == *leave) {
    *leave = 0;
    context_.saves_now = true;
    return poller->HandleLeft(response);
  }
  if (response.id != 0 && response.id == poller->under_way() && response.status == 200) {
    poller->IgnoreResponse();
    return News{};
  }
  auto news = poller->HandleResponse(response, context_.now_ms);
  if (news) {
    // The relay may have ended a poll that it held, so without its word nothing was passed on.
    news->batch_was_lost = false;
  }
  return news;
}

bool Desktop::HandleFormer(const Response& response) {
  const auto news =
      former_ ? HandleEnding(response, &former_->poller, &former_->leave_request) : std::nullopt;
  if (news) {
    traffic_.TakeBack(*news);
    EndFormerSeat();
  }
  return news.has_value();
}

}  // namespace sprites
