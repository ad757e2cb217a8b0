// The end of a desktop's seat: what it must not lose, and must not keep twice, when it goes to
// another place or when the program ends. The rules are in BEHAVIOUR.md.
#include <utility>

#include "core/desktop/desktop.h"

namespace sprites {

// Gives up the seat, and joins as the settings say now, as soon as the relay has said what was
// acknowledged. What was thrown from the seat keeps it: see departures.h.
void Desktop::Rejoin() {
  RequestId leave_request = 0;
  if (poller_.seat()) {
    saves_now_ = true;
    BounceUploads();
    if (poller_.OwesPoll()) {
      RemoveSprites(
          arrivals_.TakeBackBatch());  // the relay passes it on, because it was never acknowledged
    }
    leave_request = next_request_++;
    outbox_.requests.push_back(poller_.LeaveRequest(leave_request));
    outbox_.saved_state = StateToSave(false);
  }
  if (poller_.IsInDoubt() && !poller_.OwesPoll()) {
    former_ = {std::move(poller_), leave_request, now_ms_};
  } else if (poller_.under_way() != 0) {
    outbox_.cancelled.push_back(poller_.under_way());
  }
  poller_ = Poller(settings_.relay, JoinOptionsNow(), random_);
  peek_ = Peek();  // another relay may know peeks
  neighbours_.reset();
  ForgetRelayState();
}

// Sprites that wait for an upload come back.
void Desktop::BounceUploads() {
  for (const Departure& departure : uploads_.PopWaiting()) {
    simulation_.BounceBack(departure);
  }
}

void Desktop::RemoveSprites(const std::vector<SpriteId>& ids) {
  for (const SpriteId id : ids) {
    simulation_.Remove(id);
  }
  saves_now_ = true;
}

// Removes the sprites that the relay has passed on to others at the end of the seat.
void Desktop::TakeBack(const News& news) {
  if (news.acknowledged) {
    RemoveSprites(arrivals_.TakeBackAfter(*news.acknowledged));
  } else if (news.batch_was_lost) {
    RemoveSprites(arrivals_.TakeBackBatch());
  }
}

void Desktop::Leave() {
  if (leaving_ != Leaving::kNot) {
    return;
  }
  leaving_ = Leaving::kAsking;
  leaving_ms_ = now_ms_;
  BounceUploads();
  departures_.RetryNow();
  if (poller_.under_way() == 0) {
    poller_.RetryNow();
  }
  saves_now_ = true;
  GoOnLeaving();
}

// The seat is in the saved state until the relay has said that it has ended. Should the program end
// before, the next start goes on with it, or learns what the relay has passed on.
void Desktop::GoOnLeaving() {
  SaveIfDue();
  SendDepartures();
  EndFormerSeat();
  // What is here must be acknowledged before the relay passes it on.
  if (auto poll = poller_.LastPoll(now_ms_, &next_request_)) {
    outbox_.requests.push_back(std::move(*poll));
  }
  const bool is_answered = departures_.pending().empty() && !poller_.OwesPoll() && !former_;
  if (leaving_ == Leaving::kAsking && (is_answered || now_ms_ - leaving_ms_ >= kVerdictsMsMax)) {
    leaving_ = Leaving::kGoing;
    leaving_ms_ = now_ms_;
    if (poller_.seat()) {
      leave_request_ = next_request_++;
      outbox_.requests.push_back(poller_.LeaveRequest(leave_request_));
    }
  }
  const bool is_gone = leave_request_ == 0 && (!poller_.seat() || poller_.under_way() == 0);
  if (leaving_ == Leaving::kGoing && (is_gone || now_ms_ - leaving_ms_ >= kFarewellMsMax)) {
    leaving_ = Leaving::kDone;
  }
}

// Asks what the seat before had acknowledged, until the relay has said so, or for long enough.
void Desktop::EndFormerSeat() {
  if (!former_) {
    return;
  }
  Poller& poller = former_->poller;
  if (auto poll = poller.LastPoll(now_ms_, &next_request_)) {
    outbox_.requests.push_back(std::move(*poll));
  }
  if (!poller.IsInDoubt() || now_ms_ - former_->since_ms >= kFarewellMsMax) {
    if (poller.under_way() != 0) {
      outbox_.cancelled.push_back(poller.under_way());
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
    saves_now_ = true;
    return poller->HandleLeft(response);
  }
  if (response.id != 0 && response.id == poller->under_way() && response.status == 200) {
    poller->IgnoreResponse();
    return News{};
  }
  auto news = poller->HandleResponse(response, now_ms_);
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
    TakeBack(*news);
    EndFormerSeat();
  }
  return news.has_value();
}

// As HandleResponse, but nothing comes in any more.
void Desktop::HandleResponseLeaving(const Response& response) {
  if (const auto news = HandleEnding(response, &poller_, &leave_request_)) {
    HandleNews(*news);
  } else if (const auto verdict = departures_.HandleResponse(response, now_ms_, random_)) {
    HandleVerdict(*verdict);
  }
}

}  // namespace sprites
