#include "core/relay/moderation.h"

#include <algorithm>

#include "core/text/json.h"
#include "core/text/text.h"

namespace sprites {

std::vector<SeatRequest> Moderation::DueMutes(const std::string& self, const Neighbours& neighbours,
                                              const std::vector<Neighbour>& muted, int64_t now_ms,
                                              RequestBudget* budget) {
  std::vector<SeatRequest> requests;
  for (const Neighbour& neighbour : neighbours) {
    const bool wants =
        !neighbour.desktop.empty() &&
        std::ranges::any_of(muted, [&](const Neighbour& one) { return Mutes(one, neighbour); });
    const bool has = mutes_.contains(neighbour.desktop);
    const bool may = wants ? mutes_.size() < kMutesMax && neighbour.desktop != self : true;
    if (wants == has || !may || !budget->Allows(now_ms)) {
      continue;
    }
    budget->Spend(now_ms);
    if (wants) {
      mutes_.insert(neighbour.desktop);
      requests.push_back({Method::kPost, "/mutes", WriteJson({{"desktop", neighbour.desktop}})});
    } else {
      mutes_.erase(neighbour.desktop);
      requests.push_back({Method::kDelete, "/mutes/" + PercentEncoded(neighbour.desktop)});
    }
  }
  return requests;
}

std::optional<SeatRequest> Moderation::ReportPicture(const PictureReport& report) {
  if (reports_ >= kReportsUnderWayMax) {
    return std::nullopt;
  }
  Json body = {{"file", report.file}};
  if (const std::string text = PlainText(report.reason, kReasonBytesMax); !text.empty()) {
    body["reason"] = text;
  }
  if (!report.desktop.empty()) {
    body["desktop"] = report.desktop;
  }
  reports_++;
  return SeatRequest{Method::kPost, "/v1/reports", WriteJson(body), false};
}

Moderation::Report Moderation::HandleResponse(const Response& response) {
  reports_--;
  if (response.status == 204) {
    return Report{true, {}};
  }
  return Report{false, ReadProblem(response)};
}

}  // namespace sprites
