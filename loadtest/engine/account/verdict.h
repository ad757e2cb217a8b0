// The relay's verdict on a throw or a saying: the response to its POST, or a message on its socket.
#ifndef LOADTEST_ENGINE_ACCOUNT_VERDICT_H_
#define LOADTEST_ENGINE_ACCOUNT_VERDICT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "account/departed.h"
#include "net/http_response.h"

namespace swarm {

struct Verdict {
  enum class Kind : uint8_t { kAccepted, kRefused, kUnexpected };

  Kind kind = Kind::kUnexpected;
  bool valid = true;                      // it is what the protocol says
  uint64_t number = 0;                    // of a message: that of the throw or saying
  Fingerprint receiver = kNoFingerprint;  // accepted: the desktop it goes to, if that was named
  std::optional<uint64_t> hearers;        // accepted: how many others hear the saying
  size_t problem = 0;                     // refused: an index into kProblemCodes
};

Verdict ReadVerdict(const HttpResponse& response);
// Reads {"crossing":N,"to":…}, {"saying":N,"heard":…} or, with either number, {…,"problem":{…}}.
Verdict ReadVerdictMessage(std::string_view message);

}  // namespace swarm

#endif  // LOADTEST_ENGINE_ACCOUNT_VERDICT_H_
