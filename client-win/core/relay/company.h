// Who else is in a private world, and how far away each is, as the relay lists them.
//
// It is asked when the relay says that it has changed. Cost: O(desktops) an answer, at most 63.
#ifndef CLIENT_WIN_CORE_RELAY_COMPANY_H_
#define CLIENT_WIN_CORE_RELAY_COMPANY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/motion/sprite.h"
#include "core/relay/request.h"
#include "core/relay/request_budget.h"
#include "core/relay/seat.h"

namespace sprites {

class Company {
 public:
  // The relay has said that it has changed.
  void AskSoon() { is_due_ = true; }
  // The request to send now, if any. It is taken out of `budget`.
  std::optional<Request> DueRequest(const std::string& relay, const Seat& seat, int64_t now_ms,
                                    RequestBudget* budget, RequestId* next_id);
  // Whether the response is to a request of this class. Without a list in it, the old one stays.
  bool HandleResponse(const Response& response);
  // There is another seat, or none.
  void Forget() { *this = Company(); }

  // Each as the goal of a sprite that is thrown there.
  const std::vector<Goal>& all() const { return all_; }

 private:
  std::vector<Goal> all_;
  bool is_due_ = false;
  RequestId request_ = 0;  // under way; 0 for none
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_COMPANY_H_
