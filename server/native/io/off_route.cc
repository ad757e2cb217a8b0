#include "io/off_route.h"

namespace sprites {
namespace {

constexpr const char* AllowedMethods(Route route) {
  return route == Route::kEvents ? "GET, OPTIONS" : "POST, OPTIONS";
}

}  // namespace

bool IsForNode(Route route, Parsed parsed, const UnreadBytes& unread) {
  switch (parsed) {
    case Parsed::kOther:
    case Parsed::kChunked:
      return true;
    case Parsed::kPartial:
    case Parsed::kMalformed:
      return !MayBecomeHot(unread.at, unread.size, route);
    case Parsed::kPoll:
    case Parsed::kCrossing:
    case Parsed::kBadCursor:
    case Parsed::kTooLarge:
    case Parsed::kHeadTooLarge:
      return false;
  }
  return false;
}

std::string OffRouteAnswer(Route route, Parsed parsed, const Request& request,
                           Persistence persistence, const SharedState& shared) {
  if (parsed == Parsed::kBadCursor) {
    return ProblemAnswer(shared.BodyOf(Problem::kCursor), persistence, false, nullptr);
  }
  if (request.is_options) {
    return PreflightAnswer(persistence);
  }
  if (request.is_known_path) {
    return ProblemAnswer(shared.BodyOf(Problem::kMethodNotAllowed), persistence, request.is_head,
                         AllowedMethods(route));
  }
  return ProblemAnswer(shared.BodyOf(Problem::kNotFound), persistence, request.is_head, nullptr);
}

}  // namespace sprites
