// The requests that await their response, each with what handles it.
//
// Every response passes here, so this is the only place that decides whether one still counts: that
// of a relay which this desktop has left means nothing for the next one. Invariant: a response is
// handled once at most. Cost: O(log requests) a response.
#ifndef CLIENT_WIN_CORE_RELAY_OPEN_REQUESTS_H_
#define CLIENT_WIN_CORE_RELAY_OPEN_REQUESTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "core/relay/request.h"

namespace sprites {

// What ends before a response counts no more. What comes later in this list lasts longer.
enum class Until : uint8_t {
  kSeatEnds,      // what the relay does for this seat
  kRelayChanges,  // what the relay of the settings offers
  kProgramEnds,   // what the person has asked for
  kAnswered,      // what decides where sprites are
};

class OpenRequests {
 public:
  using Handler = std::function<void(const Response&)>;

  void Add(RequestId id, Until until, Handler handle) { open_[id] = {until, std::move(handle)}; }
  // Does nothing when no request with this id is open.
  void Handle(const Response& response) {
    if (const auto request = open_.extract(response.id)) {
      request.mapped().handle(response);
    }
  }
  // Forgets the requests that last until then, or shorter.
  void End(Until until) {
    std::erase_if(open_, [until](const auto& request) { return request.second.until <= until; });
  }

 private:
  struct OpenRequest {
    Until until = Until::kAnswered;
    Handler handle;
  };
  std::map<RequestId, OpenRequest> open_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_OPEN_REQUESTS_H_
