// Requests that are not hot: which of them go to Node, and how the front answers the others itself.
#ifndef SERVER_NATIVE_IO_OFF_ROUTE_H_
#define SERVER_NATIVE_IO_OFF_ROUTE_H_

#include <string>

#include "http/answer.h"
#include "http/request_parser.h"
#include "io/request_reader.h"
#include "io/shared_state.h"

namespace sprites {

// True when only Node can continue with this connection. The listener must hand connections over.
bool IsForNode(Route route, Parsed parsed, const UnreadBytes& unread);

// The whole answer to a well-formed request that JavaScript never sees. REQUIRES: `parsed` is
// kBadCursor or kOther.
std::string OffRouteAnswer(Route route, Parsed parsed, const Request& request,
                           Persistence persistence, const SharedState& shared);

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_OFF_ROUTE_H_
