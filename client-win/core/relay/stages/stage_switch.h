// Whether this desktop shows its stage to neighbours who peek: tells the relay what the person has
// chosen, until the relay has agreed.
//
// Cost: O(1) a call.
#ifndef CLIENT_WIN_CORE_RELAY_STAGES_STAGE_SWITCH_H_
#define CLIENT_WIN_CORE_RELAY_STAGES_STAGE_SWITCH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/motion/behaviour.h"
#include "core/relay/request_budget.h"
#include "core/relay/seat_request.h"

namespace sprites {

class StageSwitch {
 public:
  // The request that makes the seat show what is `wanted`, where it shows `shown` now; nothing when
  // that is the same, when the relay does not know stages, or when nothing is wanted. Each is taken
  // out of `budget`.
  std::optional<SeatRequest> DueRequest(std::optional<bool> shown, std::optional<bool> wanted,
                                        int64_t now_ms, RequestBudget* budget);
  // Whether the seat shows its stage now, by the response to the request under way; nothing unless
  // the relay has agreed.
  std::optional<bool> HandleResponse(const Response& response, int64_t now_ms,
                                     const Random& random);
  // There is another seat, or none.
  void Restart() { *this = StageSwitch(); }
  // The person has chosen again: the next request is due at once.
  void AskNow() { due_ms_ = 0; }

 private:
  bool is_asking_ = false;  // a request is under way
  bool asked_ = false;      // by that request
  int failures_ = 0;
  int64_t due_ms_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_STAGES_STAGE_SWITCH_H_
