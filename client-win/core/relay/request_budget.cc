#include "core/relay/request_budget.h"

#include <algorithm>

namespace sprites {

void RequestBudget::Spend(int64_t now_ms) { full_ms_ = std::max(full_ms_, now_ms) + kRequestMs; }

}  // namespace sprites
