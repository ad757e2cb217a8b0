#include "core/relay/company.h"

#include <algorithm>
#include <utility>

#include "core/relay/crossings/edges.h"
#include "core/text/json.h"
#include "wire/rules.h"

namespace sprites {

namespace {

constexpr int kCompanyDepthMax = 4;  // nested values; an answer has 3
constexpr std::string_view kResidentSuffix = " (resident)";

}  // namespace

bool IsResident(std::string_view name) { return name.ends_with(kResidentSuffix); }

std::optional<SeatRequest> Company::DueRequest(int64_t now_ms, RequestBudget* budget) {
  if (!is_due_ || is_asking_ || !budget->Allows(now_ms)) {
    return std::nullopt;
  }
  budget->Spend(now_ms);
  is_due_ = false;
  is_asking_ = true;
  return SeatRequest{Method::kGet, "/company"};
}

void Company::HandleResponse(const Response& response, int64_t now_ms) {
  is_asking_ = false;
  const bool is_answer = response.status == 200 && response.body.size() <= kResponseBytesMax;
  const Json root = is_answer ? ParseJson(response.body, kCompanyDepthMax) : Json();
  const Json& list = MemberOf(root, "company");
  if (list.is_array() && list.size() < rules::kCompanyMax) {
    Read(list, now_ms);
    const double residents = NumberAt(root, "residents", 0, kWholeNumberMax, 0);
    const double desktops = NumberAt(root, "desktops", 1, kWholeNumberMax, 1);
    people_ = std::max<int64_t>(1, static_cast<int64_t>(desktops - residents));
  }
}

void Company::Forget() {
  const bool is_wanted = people_ > 0 || is_due_ || is_asking_;
  *this = Company();
  is_due_ = is_wanted;
}

const Goal* Company::Find(const std::string& name) const {
  const auto there =
      std::ranges::find(all_, name, [](const Companion& one) { return one.goal.name; });
  return there == all_.end() ? nullptr : &there->goal;
}

void Company::Read(const Json& list, int64_t now_ms) {
  const std::vector<Companion> before = std::exchange(all_, {});
  for (const Json& one : list) {
    Goal goal = GoalIn(one);
    if (goal.name.empty()) {
      continue;
    }
    const auto known = std::ranges::find(
        before, goal.name,
        [](const Companion& other) -> const std::string& { return other.goal.name; });
    const bool is_new = people_ > 0 && known == before.end();
    all_.push_back({std::move(goal), !MemberOf(one, "awaySeconds").is_null(),
                    known != before.end() ? known->since_ms
                    : is_new              ? std::optional(now_ms)
                                          : std::nullopt});
  }
}

}  // namespace sprites
