#include "core/relay/seat_request.h"

#include <utility>

#include "core/text/json.h"
#include "core/text/text.h"

namespace sprites {

namespace {

constexpr int kAnswerDepthMax = 4;  // nested values; the deepest answer has 2

}  // namespace

std::string DesktopUrl(const std::string& relay, const Seat& seat, std::string_view path) {
  return relay + "/v1/desktops/" + PercentEncoded(seat.desktop) + std::string(path);
}

Request SeatRequest(Method method, std::string url, const std::string& token, std::string body,
                    RequestId* next_id) {
  Request request;
  request.id = (*next_id)++;
  request.method = method;
  request.url = std::move(url);
  request.token = token;
  if (!body.empty()) {
    request.content_type = "application/json";
    request.body = std::move(body);
  }
  request.timeout_ms = kShortTimeoutMs;
  request.response_bytes_max = kResponseBytesMax;
  return request;
}

Json AcceptedBody(const Response& response) {
  return response.status == 202 && response.body.size() <= kResponseBytesMax
             ? ParseJson(response.body, kAnswerDepthMax)
             : Json();
}

}  // namespace sprites
