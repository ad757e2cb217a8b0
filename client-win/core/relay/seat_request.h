// Requests that a desktop makes with the token of its seat, and the relay's acceptance of them.
//
// Cost: O(body) a call.
#ifndef CLIENT_WIN_CORE_RELAY_SEAT_REQUEST_H_
#define CLIENT_WIN_CORE_RELAY_SEAT_REQUEST_H_

#include <string>
#include <string_view>

#include "core/relay/request.h"
#include "core/relay/seat.h"
#include "core/text/json_fwd.h"

namespace sprites {

// The address of the desktop at the relay, followed by `path`: empty, or such as "/stage".
std::string DesktopUrl(const std::string& relay, const Seat& seat, std::string_view path);

// A request that the relay answers at once, with the token of a seat. `body` is JSON; empty for a
// request without one.
Request SeatRequest(Method method, std::string url, const std::string& token, std::string body,
                    RequestId* next_id);

// The JSON in a response with status 202; null for any other response, and for one that is too
// long.
Json AcceptedBody(const Response& response);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_SEAT_REQUEST_H_
