// Sprites that have left this desktop, each until the relay has decided about it.
//
// Invariant: a sprite that left the simulation stays here until there is a verdict. It keeps the
// number it was given, so the relay sees a repeated request as the same crossing.
// Cost: O(departures) a call.
#ifndef CLIENT_WIN_CORE_RELAY_DEPARTURES_H_
#define CLIENT_WIN_CORE_RELAY_DEPARTURES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/motion/behaviour.h"
#include "core/motion/sprite.h"
#include "core/relay/crossing.h"
#include "core/relay/request.h"
#include "core/relay/request_budget.h"
#include "core/relay/seat.h"

namespace sprites {

constexpr size_t kDeparturesMax = 64;     // sprites without a verdict; at this many, edges bounce
constexpr uint64_t kCrossingsAhead = 32;  // numbers that the relay looks back

struct PendingDeparture {
  uint64_t number = 0;
  Departure departure;
  // Sent by a muted neighbour: it flies on to the next desktop and was never shown on this one.
  bool is_forwarded = false;
  RequestId request = 0;  // the request under way; 0 for none
  bool was_sent = false;
  int failures = 0;
  int64_t due_ms = 0;  // when to send it next
};

// What the relay decided about a departure.
struct Verdict {
  PendingDeparture pending;
  bool accepted = false;
  std::optional<Neighbour> to;  // who received it, when the relay still knows
  Problem problem;              // why it was refused
};

class Departures {
 public:
  void Add(const Departure& departure, bool is_forwarded);
  // Adds a departure, with its number, that was pending when the program ended.
  void Restore(PendingDeparture pending);
  // The requests to send now; `next_id` numbers them. Those that the person has not caused, repeats
  // and forwarded sprites, are taken out of `budget`.
  std::vector<Request> DueRequests(const Seat& seat, int64_t now_ms, RequestBudget* budget,
                                   RequestId* next_id);
  // The verdict in a response. Nothing when the response is not to a request of this class, or when
  // it decides nothing: then the same crossing is sent again after a while.
  std::optional<Verdict> HandleResponse(const Response& response, int64_t now_ms,
                                        const Random& random);
  // Sends every pending departure again, for a new seat or a restored connection.
  void ResendAll();

  const std::vector<PendingDeparture>& pending() const { return pending_; }
  bool IsFull() const { return pending_.size() >= kDeparturesMax; }
  uint64_t next_number() const { return next_number_; }
  void set_next_number(uint64_t number) { next_number_ = number; }
  // When DueRequests next returns something, if no event comes first; the largest value for never.
  int64_t NextDueMs() const;

 private:
  std::vector<PendingDeparture> pending_;  // oldest first
  uint64_t next_number_ = 1;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_DEPARTURES_H_
