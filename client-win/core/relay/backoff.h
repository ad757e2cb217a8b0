// How long to wait before the next try: doubling, with jitter.
#ifndef CLIENT_WIN_CORE_RELAY_BACKOFF_H_
#define CLIENT_WIN_CORE_RELAY_BACKOFF_H_

#include <cstdint>

#include "core/motion/behaviour.h"

namespace sprites {

constexpr int64_t kBackoffMsFirst = 400;   // most failures are one lost connection
constexpr int64_t kBackoffMsMax = 15'000;  // for what no lease hangs on: a relay is found soon
// After a join that the relay will refuse again: it has banned us or can't read what we send.
constexpr int64_t kRefusedMsMax = 300'000;

// The wait before retry number `attempt`, counted from 0: between half of the doubled wait and all
// of it. The doubled wait is at most `ms_max`.
int64_t BackoffMs(int attempt, const Random& random, int64_t ms_max = kBackoffMsMax);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_BACKOFF_H_
