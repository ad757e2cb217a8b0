#include "core/relay/stages/peek.h"

#include <algorithm>
#include <limits>

#include "core/relay/crossings/edges.h"
#include "core/text/json.h"

namespace sprites {

namespace {

// The lease in an answer that accepts a peek; nothing for any other answer.
std::optional<int64_t> LeaseIn(const Response& response) {
  const Json root = AcceptedBody(response);
  if (!MemberOf(root, "leaseMs").is_number()) {
    return std::nullopt;
  }
  return static_cast<int64_t>(
      NumberAt(root, "leaseMs", double{kPeekLeaseMsMin}, double{kPeekLeaseMsMax}, 0));
}

}  // namespace

void Peek::Look(std::optional<Edge> edge) { wanted_ = is_unsupported_ ? std::nullopt : edge; }

std::optional<SeatRequest> Peek::DueRequest(int64_t now_ms) {
  if (now_ms < NextDueMs()) {
    return std::nullopt;
  }
  asked_ = wanted_;
  not_before_ms_ = now_ms + kPeekAskMs;
  is_asking_ = true;
  return SeatRequest{Method::kPost, "/peeks",
                     WriteJson({{"edge", asked_ ? Json(NameOf(*asked_)) : Json()}})};
}

std::optional<PeekRefusal> Peek::HandleResponse(const Response& response, int64_t now_ms) {
  is_asking_ = false;
  if (const auto lease_ms = LeaseIn(response)) {
    renew_ms_ = now_ms + *lease_ms / rules::kPeeksPerLease;
    return std::nullopt;
  }
  const Problem problem = ReadProblem(response);
  const bool shows_nothing =
      problem.code == codes::kStageHidden || problem.code == codes::kNoNeighbour;
  renew_ms_ = now_ms + (shows_nothing ? kPeekRefusedMs : kPeekRetryMs);
  const bool passes_by_itself = problem.code == codes::kTooFast ||
                                problem.code == codes::kDraining ||
                                problem.code == codes::kRelayBusy || !IsDecision(problem);
  if (problem.code == codes::kNotFound) {
    is_unsupported_ = true;
    wanted_.reset();
    asked_.reset();
  } else if (!passes_by_itself && asked_) {
    return PeekRefusal{*asked_, problem};
  }
  return std::nullopt;
}

void Peek::AskSoon(int64_t now_ms) { renew_ms_ = std::min(renew_ms_, now_ms + kPeekRetryMs); }

void Peek::Restart() {
  asked_.reset();
  is_asking_ = false;
}

int64_t Peek::NextDueMs() const {
  if (is_asking_ || (!wanted_ && !asked_)) {
    return std::numeric_limits<int64_t>::max();
  }
  return wanted_ == asked_ ? std::max(not_before_ms_, renew_ms_) : not_before_ms_;
}

}  // namespace sprites
