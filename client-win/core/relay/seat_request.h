// Requests that a desktop makes with the token of its seat, and the relay's acceptance of them.
//
// Cost: O(body) a call.
#ifndef CLIENT_WIN_CORE_RELAY_SEAT_REQUEST_H_
#define CLIENT_WIN_CORE_RELAY_SEAT_REQUEST_H_

#include <string>

#include "core/relay/request.h"
#include "core/relay/seat.h"
#include "core/text/json_fwd.h"

namespace sprites {

// What a desktop asks, and the relay answers at once.
struct SeatRequest {
  Method method = Method::kGet;
  std::string path;         // after the address of the desktop, such as "/stage"
  std::string body;         // JSON; empty for none
  bool is_desktops = true;  // false: the path is after the address of the relay itself
};

// The request to the relay that has the seat.
Request RequestOf(const SeatRequest& asked, const std::string& relay, const Seat& seat);

// A request with a JSON body, or without one if it is empty. `token` may be empty.
Request JsonRequest(Method method, std::string url, const std::string& token, std::string body);

// The address of the desktop at the relay.
std::string DesktopUrl(const std::string& relay, const Seat& seat);

// The JSON in a response with status 202; null for any other response, and for one that is too
// long.
Json AcceptedBody(const Response& response);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_SEAT_REQUEST_H_
