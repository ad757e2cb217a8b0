#include "core/relay/departures.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/relay/backoff.h"
#include "core/relay/seat_request.h"

namespace sprites {

void Departures::Add(const Departure& departure, bool is_forwarded) {
  PendingDeparture pending;
  pending.number = next_number_;
  pending.departure = departure;
  pending.is_forwarded = is_forwarded;
  Restore(std::move(pending));
}

void Departures::Restore(PendingDeparture pending) {
  next_number_ = std::max(next_number_, pending.number + 1);
  pending_.push_back(std::move(pending));
}

std::vector<Request> Departures::DueRequests(const Seat& seat, int64_t now_ms,
                                             RequestBudget* budget, RequestId* next_id) {
  std::vector<Request> requests;
  for (PendingDeparture& pending : pending_) {
    // The relay recognises a repeat only among its last kCrossingsAhead numbers.
    if (pending.number >= pending_.front().number + kCrossingsAhead) {
      break;
    }
    if (pending.request != 0 || pending.due_ms > now_ms) {
      continue;
    }
    const bool is_automatic = pending.was_sent || pending.is_forwarded;
    if (is_automatic && !budget->Allows(now_ms)) {
      continue;
    }
    if (is_automatic) {
      budget->Spend(now_ms);
    }
    pending.was_sent = true;
    Request request = SeatRequest(Method::kPost, seat.crossings, seat,
                                  CrossingJson(pending.number, pending.departure), next_id);
    pending.request = request.id;
    requests.push_back(std::move(request));
  }
  return requests;
}

std::optional<Verdict> Departures::HandleResponse(const Response& response, int64_t now_ms,
                                                  const Random& random) {
  const auto found = std::ranges::find(pending_, response.id, &PendingDeparture::request);
  if (response.id == 0 || found == pending_.end()) {
    return std::nullopt;
  }
  Verdict verdict;
  if (const auto acceptance = ReadAcceptance(response)) {
    verdict.accepted = true;
    verdict.to = acceptance->to;
  } else {
    verdict.problem = ReadProblem(response);
    if (!IsDecision(verdict.problem)) {
      found->request = 0;
      found->due_ms = now_ms + BackoffMs(found->failures++, random);
      return std::nullopt;
    }
  }
  verdict.pending = std::move(*found);
  pending_.erase(found);
  return verdict;
}

void Departures::ResendAll() {
  for (PendingDeparture& pending : pending_) {
    pending.request = 0;
    pending.due_ms = 0;
    pending.failures = 0;
  }
}

int64_t Departures::NextDueMs() const {
  int64_t due = std::numeric_limits<int64_t>::max();
  for (const PendingDeparture& pending : pending_) {
    if (pending.request == 0) {
      due = std::min(due, pending.due_ms);
    }
  }
  return due;
}

}  // namespace sprites
