#include "core/relay/company.h"

#include <utility>

#include "core/relay/crossings/edges.h"
#include "core/relay/seat_request.h"
#include "core/text/json.h"
#include "wire/rules.h"

namespace sprites {

namespace {

constexpr int kCompanyDepthMax = 4;  // nested values; an answer has 3

}  // namespace

std::optional<Request> Company::DueRequest(const std::string& relay, const Seat& seat,
                                           int64_t now_ms, RequestBudget* budget,
                                           RequestId* next_id) {
  if (!is_due_ || request_ != 0 || !budget->Allows(now_ms)) {
    return std::nullopt;
  }
  budget->Spend(now_ms);
  is_due_ = false;
  Request request =
      SeatRequest(Method::kGet, DesktopUrl(relay, seat, "/company"), seat.token, "", next_id);
  request_ = request.id;
  return request;
}

bool Company::HandleResponse(const Response& response) {
  if (response.id == 0 || response.id != request_) {
    return false;
  }
  request_ = 0;
  const bool is_answer = response.status == 200 && response.body.size() <= kResponseBytesMax;
  const Json root = is_answer ? ParseJson(response.body, kCompanyDepthMax) : Json();
  const Json& list = MemberOf(root, "company");
  if (list.is_array() && list.size() < rules::kCompanyMax) {
    all_.clear();
    for (const Json& one : list) {
      if (Goal goal = GoalIn(one); !goal.name.empty()) {
        all_.push_back(std::move(goal));
      }
    }
  }
  return true;
}

}  // namespace sprites
