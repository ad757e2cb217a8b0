// Changing seats with somebody else in a small private world: the person asks, or is asked.
//
// The relay keeps the questions; each lasts for a while, and silence is a no. Invariant: one
// question at most has no response. Cost: O(1).
#ifndef CLIENT_WIN_CORE_RELAY_SWAPS_H_
#define CLIENT_WIN_CORE_RELAY_SWAPS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/motion/sprite.h"
#include "core/relay/batch.h"
#include "core/relay/seat_request.h"

namespace sprites {

class Swaps {
 public:
  // What came of a question or of an answer, and whom it is about.
  enum class Outcome : uint8_t {
    kAsked,
    kDone,   // the seat was free
    kGone,   // nobody of that name sits there any more
    kOver,   // the question that was answered
    kLater,  // the relay can't do it now
  };
  struct Result {
    Outcome outcome = Outcome::kLater;
    std::string name;
  };

  // The request that asks somebody. Nothing while one is under way.
  std::optional<SeatRequest> Ask(const Goal& whom);
  // The request that answers asker(), and ends the question here.
  SeatRequest Answer(const Neighbour& asker, bool is_accepted);
  // What to show the person about the response to Ask.
  Result HandleAsked(const Response& response);
  // Likewise to Answer, which was for `asker`; nothing if all went well.
  static std::optional<Result> HandleAnswered(const Response& response, const std::string& asker);
  void HandleEvent(const SwapEvent& event, int64_t now_ms);
  // Who asked last, until that is answered.
  const std::optional<Neighbour>& asker() const { return asker_; }
  // Who asks this desktop; null when nobody does.
  const Neighbour* Asker(int64_t now_ms) const;
  // There is another seat, or none.
  void Forget() { *this = Swaps(); }

 private:
  std::optional<Neighbour> asker_;
  int64_t asks_until_ms_ = 0;
  bool is_asking_ = false;  // a request of Ask is under way
  std::string asked_;       // the name, as people see it
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_SWAPS_H_
