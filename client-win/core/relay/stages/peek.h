// The watch over one edge of this desktop: asks the relay for the neighbour's stage, renews the
// lease, and ends it.
//
// Invariant: at most one request is unanswered, and at most one is sent in kPeekAskMs, however fast
// the person changes edges and whatever the relay says; the request budget does not count them.
// Cost: O(1) a call.
#ifndef CLIENT_WIN_CORE_RELAY_STAGES_PEEK_H_
#define CLIENT_WIN_CORE_RELAY_STAGES_PEEK_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/relay/batch.h"
#include "core/relay/seat_request.h"
#include "core/screen/geometry.h"
#include "wire/rules.h"

namespace sprites {

constexpr int64_t kPeekAskMs = 1000 / rules::kPeeksPerSecondMax;  // between two requests
constexpr int64_t kPeekRetryMs = 1'000;  // until a request that was lost, or too fast, is repeated
constexpr int64_t kPeekRefusedMs = 5'000;   // until an edge that shows nothing is tried again
constexpr int64_t kPeekLeaseMsMin = 1'000;  // a shorter lease would be renewed too often
constexpr int64_t kPeekLeaseMsMax = 600'000;

// The relay does not show what is beyond this edge.
struct PeekRefusal {
  Edge edge = Edge::kLeft;
  Problem problem;
};

class Peek {
 public:
  // The person looks through this edge from now on, or through none.
  void Look(std::optional<Edge> edge);
  // The request to send now, if one is due.
  std::optional<SeatRequest> DueRequest(int64_t now_ms);
  // Handles the response to the request under way. Returns something if the relay refuses the edge
  // and will not accept it a moment later.
  std::optional<PeekRefusal> HandleResponse(const Response& response, int64_t now_ms);
  // Asks again soon, because the neighbours have changed or the watch has ended.
  void AskSoon(int64_t now_ms);
  // There is another seat, or none, so the relay has forgotten what was asked before.
  void Restart();

  // The edge that the person looks through.
  std::optional<Edge> wanted() const { return wanted_; }
  // The relay is an older one that does not know peeks.
  bool is_unsupported() const { return is_unsupported_; }
  // When DueRequest next returns something, if no event comes first; the largest value for never.
  int64_t NextDueMs() const;

 private:
  std::optional<Edge> wanted_;
  std::optional<Edge> asked_;  // by the last request
  bool is_asking_ = false;     // a request is under way
  int64_t renew_ms_ = 0;       // when asked_ is asked for again
  int64_t not_before_ms_ = 0;
  bool is_unsupported_ = false;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_STAGES_PEEK_H_
