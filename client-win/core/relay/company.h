// Who else is in the world, and how far away each is, as the relay lists them: everybody in a small
// private world, otherwise the neighbours.
//
// It is asked when the relay says that it has changed, and when the person wants to see it. The
// relay gives no ids, so who has just come is known by name. Cost: O(desktops²) an answer, of at
// most 63.
#ifndef CLIENT_WIN_CORE_RELAY_COMPANY_H_
#define CLIENT_WIN_CORE_RELAY_COMPANY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/motion/sprite.h"
#include "core/relay/request_budget.h"
#include "core/relay/seat_request.h"
#include "core/text/json_fwd.h"

namespace sprites {

// For so long somebody is shown as new: long enough for one who looks now and then.
constexpr int64_t kNewcomerMs = 60'000;

// Somebody else in the world.
struct Companion {
  Goal goal;                        // of a sprite that is thrown there
  bool is_away = false;             // has not polled for a while
  std::optional<int64_t> since_ms;  // when they came; nothing for who was here before

  bool IsNew(int64_t now_ms) const { return since_ms && now_ms - *since_ms < kNewcomerMs; }
};

// Whether that is the name of a program that keeps people company.
bool IsResident(std::string_view name);

class Company {
 public:
  // The relay has said that it has changed, or the person wants to see it.
  void AskSoon() { is_due_ = true; }
  // The request to send now, if any. It is taken out of `budget`.
  std::optional<SeatRequest> DueRequest(int64_t now_ms, RequestBudget* budget);
  // Without a list in the response, the old one stays.
  void HandleResponse(const Response& response, int64_t now_ms);
  // There is another seat, or none. Who was asked for is asked for again.
  void Forget();

  const std::vector<Companion>& all() const { return all_; }
  // Where somebody of this name sits; null if nobody does.
  const Goal* Find(const std::string& name) const;
  // The people in the world with this one, also those who are not listed; 0 before an answer.
  int64_t people() const { return people_; }

 private:
  void Read(const Json& list, int64_t now_ms);

  std::vector<Companion> all_;
  int64_t people_ = 0;
  bool is_due_ = false;
  bool is_asking_ = false;  // a request is under way
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_COMPANY_H_
