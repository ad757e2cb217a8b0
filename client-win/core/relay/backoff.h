// How long to wait before the next try: doubling, with jitter.
#ifndef CLIENT_WIN_CORE_RELAY_BACKOFF_H_
#define CLIENT_WIN_CORE_RELAY_BACKOFF_H_

#include <cstdint>

#include "core/motion/behaviour.h"

namespace sprites {

constexpr int64_t kBackoffMsFirst = 400;   // most failures are one lost connection
constexpr int64_t kBackoffMsMax = 15'000;  // half a lease, so the relay has not ended it yet

// The wait before retry number `attempt`, counted from 0: between half of the doubled wait and all
// of it.
int64_t BackoffMs(int attempt, const Random& random);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_BACKOFF_H_
