#include "core/relay/seat_request.h"

#include <utility>

#include "core/text/json.h"
#include "core/text/text.h"

namespace sprites {

namespace {

constexpr int kAnswerDepthMax = 4;  // nested values; the deepest answer has 2

}  // namespace

std::string DesktopUrl(const std::string& relay, const Seat& seat) {
  return relay + "/v1/desktops/" + PercentEncoded(seat.desktop);
}

Request JsonRequest(Method method, std::string url, const std::string& token, std::string body) {
  Request request;
  request.method = method;
  request.url = std::move(url);
  request.token = token;
  request.content_type = body.empty() ? "" : "application/json";
  request.body = std::move(body);
  return request;
}

Request RequestOf(const SeatRequest& asked, const std::string& relay, const Seat& seat) {
  const std::string address = asked.is_desktops ? DesktopUrl(relay, seat) : relay;
  return JsonRequest(asked.method, address + asked.path, seat.token, asked.body);
}

Json AcceptedBody(const Response& response) {
  return response.status == 202 && response.body.size() <= kResponseBytesMax
             ? ParseJson(response.body, kAnswerDepthMax)
             : Json();
}

}  // namespace sprites
