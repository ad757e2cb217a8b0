#include "core/relay/crossings/departures.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "core/relay/backoff.h"
#include "core/relay/crossings/edges.h"
#include "core/relay/seat_request.h"
#include "core/text/json.h"
#include "wire/rules.h"

namespace sprites {

bool Departures::HasRoom(const Seat& seat) const {
  const PendingDeparture* oldest = OldestOf(KeyOf(seat));
  return pending_.size() < kDeparturesMax &&
         (oldest == nullptr || next_number_ < oldest->number + kCrossingsAhead);
}

void Departures::Add(const Departure& departure, const Seat& seat, bool is_forwarded) {
  assert(HasRoom(seat));
  PendingDeparture pending;
  pending.number = next_number_;
  pending.departure = departure;
  pending.thrown_from = KeyOf(seat);
  pending.is_forwarded = is_forwarded;
  Restore(std::move(pending));
}

void Departures::Restore(PendingDeparture pending) {
  next_number_ = std::max(next_number_, pending.number + 1);
  pending_.push_back(std::move(pending));
}

const PendingDeparture* Departures::OldestOf(const SeatKey& key) const {
  const auto oldest = std::ranges::find(pending_, key, &PendingDeparture::thrown_from);
  return oldest == pending_.end() ? nullptr : &*oldest;
}

bool Departures::MayBeSent(const PendingDeparture& pending, const Seat* seat) const {
  const PendingDeparture* oldest = OldestOf(pending.thrown_from);
  const bool is_from_here = seat != nullptr && pending.thrown_from == KeyOf(*seat);
  // A program that knew no such limit may have saved more.
  return is_from_here ? pending.number < oldest->number + kCrossingsAhead : &pending == oldest;
}

std::vector<Request> Departures::DueRequests(const Seat* seat, int64_t now_ms,
                                             RequestBudget* budget, RequestId* next_id) {
  std::vector<Request> requests;
  for (PendingDeparture& pending : pending_) {
    if (pending.request != 0 || pending.due_ms > now_ms || !MayBeSent(pending, seat)) {
      continue;
    }
    const bool is_automatic = pending.was_sent || pending.is_forwarded;
    if (is_automatic && !budget->Allows(now_ms)) {
      continue;
    }
    if (is_automatic) {
      budget->Spend(now_ms);
    }
    const SeatKey& from = pending.thrown_from;
    pending.former_tries += seat != nullptr && from != KeyOf(*seat) ? 1 : 0;
    pending.is_repeat = std::exchange(pending.was_sent, true);
    Request request = JsonRequest(Method::kPost, from.crossings, from.token,
                                  CrossingJson(pending.number, pending.departure));
    request.id = pending.request = (*next_id)++;
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
    if (!IsVerdict(verdict.problem, found->is_repeat)) {
      found->request = 0;
      found->due_ms = now_ms + BackoffMs(found->failures++, random);
      return std::nullopt;
    }
  }
  verdict.pending = std::move(*found);
  pending_.erase(found);
  return verdict;
}

std::vector<Verdict> Departures::GiveUp() {
  std::vector<SeatKey> gone;
  for (const PendingDeparture& pending : pending_) {
    if (pending.request == 0 && pending.former_tries >= kFormerTriesMax) {
      gone.push_back(pending.thrown_from);
    }
  }
  std::vector<Verdict> verdicts;
  std::erase_if(pending_, [&](PendingDeparture& pending) {
    const bool is_gone = std::ranges::find(gone, pending.thrown_from) != gone.end();
    if (is_gone) {
      verdicts.push_back({std::move(pending), false, std::nullopt, ReadProblem({})});
    }
    return is_gone;
  });
  return verdicts;
}

void Departures::RetryNow() {
  for (PendingDeparture& pending : pending_) {
    pending.due_ms = 0;
    pending.failures = 0;
  }
}

int64_t Departures::NextDueMs(const Seat* seat) const {
  int64_t due = std::numeric_limits<int64_t>::max();
  for (const PendingDeparture& pending : pending_) {
    if (pending.request == 0 && MayBeSent(pending, seat)) {
      due = std::min(due, pending.due_ms);
    }
  }
  return due;
}

std::string CrossingJson(uint64_t number, const Departure& departure) {
  Carried sprite = departure.sprite;
  sprite.journey = departure.journey;
  Json body = {
      {"crossing", number}, {"edge", NameOf(departure.edge)}, {"sprite", CarriedJson(sprite)}};
  body["sprite"]["animation"] = departure.animation.empty() ? "fall" : departure.animation;
  body.update(MotionJson(departure));
  return WriteJson(body);
}

}  // namespace sprites
