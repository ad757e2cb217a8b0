// What this desktop asks the relay about others: to mute desktops, and to look at a picture.
//
// A mute at the relay ends with either desktop, so it is sent again for a new seat. Invariant: a
// seat mutes at most kMutesMax desktops, the relay's limit. Cost: O(neighbours) a call.
#ifndef CLIENT_WIN_CORE_RELAY_MODERATION_H_
#define CLIENT_WIN_CORE_RELAY_MODERATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/relay/batch.h"
#include "core/relay/request_budget.h"
#include "core/relay/seat_request.h"
#include "wire/rules.h"

namespace sprites {

using rules::kMutesMax;
using rules::kReasonBytesMax;
constexpr size_t kReportsUnderWayMax = rules::kReportsPerWindowMax;

// What the operator is told about a picture.
struct PictureReport {
  std::string file;
  std::string desktop;  // that has thrown it; empty when that is not known, or is this one
  std::string reason;   // may be empty
};

class Moderation {
 public:
  struct Report {
    bool was_accepted = false;
    Problem problem;  // why not
  };

  // The requests that make the relay's mutes those of `muted`; only neighbours are muted, because
  // only they can throw here, and not `self`, this desktop. Each is taken out of `budget`.
  std::vector<SeatRequest> DueMutes(const std::string& self, const Neighbours& neighbours,
                                    const std::vector<Neighbour>& muted, int64_t now_ms,
                                    RequestBudget* budget);
  // The request that tells the relay's operator about a picture. Nothing while too many are under
  // way. The reason is cut to its limit.
  std::optional<SeatRequest> ReportPicture(const PictureReport& report);
  // What came of a report, by the response to it.
  Report HandleResponse(const Response& response);
  // There is a new seat, which mutes nobody yet.
  void ForgetMutes() { mutes_.clear(); }

 private:
  std::set<std::string> mutes_;  // desktops that the relay has been asked to mute
  size_t reports_ = 0;           // under way
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_MODERATION_H_
