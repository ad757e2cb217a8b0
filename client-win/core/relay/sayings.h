// What this desktop says: one line of text at a time, until the relay has answered.
//
// Invariant: at most one saying is pending. It keeps the number it was given until it is answered,
// also over a broken connection and a restart of the program, so the relay says it once.
// Cost: O(text) a call.
#ifndef CLIENT_WIN_CORE_RELAY_SAYINGS_H_
#define CLIENT_WIN_CORE_RELAY_SAYINGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/motion/behaviour.h"
#include "core/relay/batch.h"
#include "core/relay/request_budget.h"
#include "core/relay/seat_request.h"
#include "wire/rules.h"

namespace sprites {

constexpr size_t kBytesLeftShown = 80;  // bytes: with more left, the count is hidden
using rules::kSayingBodyBytesMax;

// The number and the text of a saying that the relay has not answered.
struct PendingSaying {
  uint64_t number = 0;
  std::string text;
};

// What the relay answered.
struct SayingVerdict {
  std::string text;  // what was said
  bool accepted = false;
  std::optional<uint64_t> heard;  // how many others it is for, when the relay still knows
  Problem problem;                // why it was refused
};

// The text as the relay stores it: without hidden characters, and without spaces around it. It may
// be longer than kSayingBytesMax.
std::string SayingText(std::string_view text);

// The body of a saying, at most kSayingBodyBytesMax.
std::string SayingJson(uint64_t number, const std::string& text);

// How many of kSayingBytesMax bytes a line has, such as `212 / 280`. Empty while more than
// kBytesLeftShown are left.
std::string SayingLength(size_t bytes);

class Sayings {
 public:
  // Begins to say `text`, which is of 1 … kSayingBytesMax bytes. REQUIRES: nothing is pending.
  void Add(std::string text);
  // Continues with what was pending when the program ended.
  void Restore(PendingSaying pending);
  // The request to send now. A repeat is taken out of `budget`.
  std::optional<SeatRequest> DueRequest(int64_t now_ms, RequestBudget* budget);
  // The verdict in the response to the request under way. Nothing when it decides nothing: then the
  // same saying is sent again after a while.
  std::optional<SayingVerdict> HandleResponse(const Response& response, int64_t now_ms,
                                              const Random& random);
  // Gives up what is pending, because its seat has ended. Returns it.
  std::optional<PendingSaying> GiveUp();

  const std::optional<PendingSaying>& pending() const { return pending_; }
  uint64_t next_number() const { return next_number_; }
  void set_next_number(uint64_t number) { next_number_ = number; }
  // When DueRequest next returns something, if no event comes first; the largest value for never.
  int64_t NextDueMs() const;

 private:
  std::optional<PendingSaying> pending_;
  uint64_t next_number_ = 1;
  bool is_asking_ = false;  // a request is under way
  bool was_sent_ = false;
  bool is_repeat_ = false;  // the last request
  int failures_ = 0;
  int64_t due_ms_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_SAYINGS_H_
