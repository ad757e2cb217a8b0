#include "core/relay/moderation.h"

#include <algorithm>
#include <utility>

#include "core/text/json.h"
#include "core/text/text.h"

namespace sprites {

namespace {

Request RequestTo(std::string url, Method method, const Seat& seat, const Json& body,
                  RequestId* next_id) {
  Request request;
  request.id = (*next_id)++;
  request.method = method;
  request.url = std::move(url);
  request.token = seat.token;
  if (!body.is_null()) {
    request.content_type = "application/json";
    request.body = WriteJson(body);
  }
  request.timeout_ms = kShortTimeoutMs;
  request.response_bytes_max = kResponseBytesMax;
  return request;
}

}  // namespace

std::vector<Request> Moderation::DueMutes(const std::string& relay, const Seat& seat,
                                          const Neighbours& neighbours,
                                          const std::vector<std::string>& muted, int64_t now_ms,
                                          RequestBudget* budget, RequestId* next_id) {
  std::vector<Request> requests;
  const std::string mutes_url = relay + "/v1/desktops/" + PercentEncoded(seat.desktop) + "/mutes";
  for (const Neighbour& neighbour : neighbours) {
    const bool wants = std::ranges::find(muted, neighbour.DisplayName()) != muted.end() &&
                       !neighbour.desktop.empty();
    const bool has = mutes_.contains(neighbour.desktop);
    const bool may = wants ? mutes_.size() < kMutesMax && neighbour.desktop != seat.desktop : true;
    if (wants == has || !may || !budget->Allows(now_ms)) {
      continue;
    }
    budget->Spend(now_ms);
    if (wants) {
      mutes_.insert(neighbour.desktop);
      requests.push_back(
          RequestTo(mutes_url, Method::kPost, seat, {{"desktop", neighbour.desktop}}, next_id));
    } else {
      mutes_.erase(neighbour.desktop);
      requests.push_back(RequestTo(mutes_url + "/" + PercentEncoded(neighbour.desktop),
                                   Method::kDelete, seat, nullptr, next_id));
    }
  }
  return requests;
}

std::optional<Request> Moderation::ReportPicture(const std::string& relay, const Seat& seat,
                                                 const std::string& file, const std::string& reason,
                                                 RequestId* next_id) {
  if (reports_.size() >= kReportsUnderWayMax) {
    return std::nullopt;
  }
  Json body = {{"file", file}};
  if (const std::string text = PlainText(reason, kReasonBytesMax); !text.empty()) {
    body["reason"] = text;
  }
  Request request = RequestTo(relay + "/v1/reports", Method::kPost, seat, body, next_id);
  reports_.insert(request.id);
  return request;
}

std::optional<Moderation::Report> Moderation::HandleResponse(const Response& response) {
  if (reports_.erase(response.id) == 0) {
    return std::nullopt;
  }
  if (response.status == 204) {
    return Report{true, {}};
  }
  return Report{false, ReadProblem(response)};
}

}  // namespace sprites
