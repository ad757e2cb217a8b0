// Sprites that have left this desktop, each until the relay has decided about it.
//
// Invariants: a sprite that left the simulation stays here until there is a verdict. It keeps its
// number and the seat that it was thrown from, and is sent again under that number with that seat's
// key alone, also when the seat has ended: only there the relay knows whether it accepted the first
// request. At another seat the same crossing would be a second sprite. A seat's numbers without a
// verdict are less than kCrossingsAhead apart. The rules are in BEHAVIOUR.md.
// Cost: O(departures²) a call; there are at most kDeparturesMax.
#ifndef CLIENT_WIN_CORE_RELAY_DEPARTURES_H_
#define CLIENT_WIN_CORE_RELAY_DEPARTURES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/motion/behaviour.h"
#include "core/motion/sprite.h"
#include "core/relay/batch.h"
#include "core/relay/request.h"
#include "core/relay/request_budget.h"
#include "core/relay/seat.h"
#include "wire/rules.h"

namespace sprites {

using rules::kCrossingBytesMax;
constexpr size_t kDeparturesMax = 64;  // sprites without a verdict; at this many, edges bounce
constexpr uint64_t kCrossingsAhead = rules::kCrossingsRemembered;
// Requests with the key of a former seat, while this desktop is connected with another one: some
// ten minutes of them, for which a relay remembers a desktop that has ended.
constexpr int kFormerTriesMax = rules::kEndedRememberedMs / kShortTimeoutMs;

struct PendingDeparture {
  uint64_t number = 0;
  Departure departure;
  SeatKey thrown_from;
  // Sent by a muted neighbour: it flies on to the next desktop and was never shown on this one.
  bool is_forwarded = false;
  RequestId request = 0;  // the request under way; 0 for none
  bool was_sent = false;
  bool is_repeat = false;  // the last request
  int failures = 0;
  int former_tries = 0;  // as of kFormerTriesMax
  int64_t due_ms = 0;    // when to send it next
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
  // Whether one more may leave from this seat.
  bool HasRoom(const Seat& seat) const;
  // REQUIRES: HasRoom(seat).
  void Add(const Departure& departure, const Seat& seat, bool is_forwarded);
  // Adds a departure, with its number and its seat, that was pending when the program ended.
  void Restore(PendingDeparture pending);
  // The requests to send now; `next_id` numbers them. `seat` is the present one; null while it is
  // not connected. At every other seat one departure at a time is asked about. Requests that the
  // person has not caused, repeats and forwarded sprites, are taken out of `budget`.
  std::vector<Request> DueRequests(const Seat* seat, int64_t now_ms, RequestBudget* budget,
                                   RequestId* next_id);
  // The verdict in a response. Nothing when the response is not to a request of this class, or when
  // it decides nothing: then the same crossing is sent again after a while.
  std::optional<Verdict> HandleResponse(const Response& response, int64_t now_ms,
                                        const Random& random);
  // Gives up asking relays that are gone for good, as if each had refused what was thrown there.
  std::vector<Verdict> GiveUp();
  // Sends those that wait after a failure at once: the connection may be back.
  void RetryNow();

  const std::vector<PendingDeparture>& pending() const { return pending_; }
  uint64_t next_number() const { return next_number_; }
  void set_next_number(uint64_t number) { next_number_ = number; }
  // When DueRequests next returns something, if no event comes first; the largest value for never.
  int64_t NextDueMs(const Seat* seat) const;

 private:
  // The oldest departure from the seat; null for none.
  const PendingDeparture* OldestOf(const SeatKey& key) const;
  bool MayBeSent(const PendingDeparture& pending, const Seat* seat) const;

  std::vector<PendingDeparture> pending_;  // oldest first
  uint64_t next_number_ = 1;
};

// The body of a crossing, at most kCrossingBytesMax. The format is server/PROTOCOL.md.
std::string CrossingJson(uint64_t number, const Departure& departure);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_DEPARTURES_H_
