#include "core/relay/complaints.h"

#include "core/text/json.h"
#include "core/text/text.h"

namespace sprites {

namespace {

Request Complaint(const std::string& url, const Seat& seat, RequestId id) {
  Request request;
  request.id = id;
  request.url = url;
  request.token = seat.token;
  request.timeout_ms = kShortTimeoutMs;
  request.response_bytes_max = kResponseBytesMax;
  return request;
}

void SetBody(Request* request, const Json& body) {
  request->method = Method::kPost;
  request->content_type = "application/json";
  request->body = WriteJson(body);
}

}  // namespace

Request MuteRequest(const std::string& relay, const Seat& seat, const std::string& desktop,
                    bool is_muted, RequestId id) {
  const std::string mutes = relay + "/v1/desktops/" + PercentEncoded(seat.desktop) + "/mutes";
  if (!is_muted) {
    Request request = Complaint(mutes + "/" + PercentEncoded(desktop), seat, id);
    request.method = Method::kDelete;
    return request;
  }
  Request request = Complaint(mutes, seat, id);
  SetBody(&request, {{"desktop", desktop}});
  return request;
}

Request ReportRequest(const std::string& relay, const Seat& seat, const std::string& file,
                      const std::string& reason, RequestId id) {
  Request request = Complaint(relay + "/v1/reports", seat, id);
  Json body = {{"file", file}};
  if (const std::string plain = PlainText(reason, kReasonBytesMax); !plain.empty()) {
    body["reason"] = plain;
  }
  SetBody(&request, body);
  return request;
}

}  // namespace sprites
