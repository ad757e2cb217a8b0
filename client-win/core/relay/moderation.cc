#include "core/relay/moderation.h"

#include <algorithm>

#include "core/relay/seat_request.h"
#include "core/text/json.h"
#include "core/text/text.h"

namespace sprites {

std::vector<Request> Moderation::DueMutes(const std::string& relay, const Seat& seat,
                                          const Neighbours& neighbours,
                                          const std::vector<Neighbour>& muted, int64_t now_ms,
                                          RequestBudget* budget, RequestId* next_id) {
  std::vector<Request> requests;
  const std::string mutes_url = DesktopUrl(relay, seat, "/mutes");
  for (const Neighbour& neighbour : neighbours) {
    const bool wants =
        !neighbour.desktop.empty() &&
        std::ranges::any_of(muted, [&](const Neighbour& one) { return Mutes(one, neighbour); });
    const bool has = mutes_.contains(neighbour.desktop);
    const bool may = wants ? mutes_.size() < kMutesMax && neighbour.desktop != seat.desktop : true;
    if (wants == has || !may || !budget->Allows(now_ms)) {
      continue;
    }
    budget->Spend(now_ms);
    if (wants) {
      mutes_.insert(neighbour.desktop);
      requests.push_back(SeatRequest(Method::kPost, mutes_url, seat.token,
                                     WriteJson({{"desktop", neighbour.desktop}}), next_id));
    } else {
      mutes_.erase(neighbour.desktop);
      requests.push_back(SeatRequest(Method::kDelete,
                                     mutes_url + "/" + PercentEncoded(neighbour.desktop),
                                     seat.token, "", next_id));
    }
  }
  return requests;
}

std::optional<Request> Moderation::ReportPicture(const std::string& relay, const Seat& seat,
                                                 const PictureReport& report, RequestId* next_id) {
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
  return SeatRequest(Method::kPost, relay + "/v1/reports", seat.token, WriteJson(body), next_id);
}

Moderation::Report Moderation::HandleResponse(const Response& response) {
  reports_--;
  if (response.status == 204) {
    return Report{true, {}};
  }
  return Report{false, ReadProblem(response)};
}

}  // namespace sprites
