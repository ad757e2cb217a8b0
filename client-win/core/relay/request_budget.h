// How many requests this desktop makes by itself: polls, joins, look-ups, repeats, files to fetch.
//
// A bucket of kRequestBurst requests, refilled by one a second. Whatever a relay answers, it can't
// make this desktop send more than that. What the person causes, such as a throw, is not counted.
// Cost: O(1) a call.
#ifndef CLIENT_WIN_CORE_RELAY_REQUEST_BUDGET_H_
#define CLIENT_WIN_CORE_RELAY_REQUEST_BUDGET_H_

#include <algorithm>
#include <cstdint>

namespace sprites {

// Requests at once: 150 sprites that all arrive with new pictures, and the polls that bring them.
constexpr int kRequestBurst = 256;
constexpr int64_t kRequestMs = 1'000;  // between two requests for long

class RequestBudget {
 public:
  // Whether a request may be made at `now_ms` of a monotonic clock.
  bool Allows(int64_t now_ms) const { return now_ms >= NextMs(); }
  // Takes one request out of the bucket. REQUIRES: Allows(now_ms).
  void Spend(int64_t now_ms) { full_ms_ = std::max(full_ms_, now_ms) + kRequestMs; }
  // When the next request may be made; in the past if it may be made now.
  int64_t NextMs() const { return full_ms_ - (kRequestBurst - 1) * kRequestMs; }

 private:
  int64_t full_ms_ = 0;  // when the bucket is full again
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_REQUEST_BUDGET_H_
