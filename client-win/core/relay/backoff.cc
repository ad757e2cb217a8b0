#include "core/relay/backoff.h"

#include <algorithm>

namespace sprites {

namespace {

constexpr int kDoublings = 10;  // as many as kRefusedMsMax needs, few enough not to overflow

}  // namespace

int64_t BackoffMs(int attempt, const Random& random, int64_t ms_max) {
  const int64_t full = std::min(ms_max, kBackoffMsFirst << std::clamp(attempt, 0, kDoublings));
  return static_cast<int64_t>(static_cast<double>(full) * (0.5 + random() / 2));
}

}  // namespace sprites
