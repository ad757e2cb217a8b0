// Complaints: this desktop mutes a neighbour, or reports a picture to the relay's operator.
#ifndef CLIENT_WIN_CORE_RELAY_COMPLAINTS_H_
#define CLIENT_WIN_CORE_RELAY_COMPLAINTS_H_

#include <cstddef>
#include <string>

#include "core/relay/request.h"
#include "core/relay/seat.h"

namespace sprites {

constexpr size_t kReasonBytesMax = 200;  // bytes of UTF-8: the relay's limit

// Asks the relay to send what `desktop` throws to the next desktop, or no longer to do so.
Request MuteRequest(const std::string& relay, const Seat& seat, const std::string& desktop,
                    bool is_muted, RequestId id);
// Tells the operator about a picture. `reason` may be empty; it is cut to its limit.
Request ReportRequest(const std::string& relay, const Seat& seat, const std::string& file,
                      const std::string& reason, RequestId id);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_COMPLAINTS_H_
