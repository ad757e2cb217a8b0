#include "core/relay/request_budget.h"

#include <doctest/doctest.h>

namespace sprites {
namespace {

TEST_CASE("request budget › allows a burst, and then one request a second") {
  RequestBudget budget;
  const int64_t start = 1'000'000;
  for (int i = 0; i < kRequestBurst; i++) {
    REQUIRE(budget.Allows(start));
    budget.Spend(start);
  }
  CHECK(!budget.Allows(start));
  CHECK(budget.NextMs() == start + kRequestMs);
  CHECK(!budget.Allows(start + kRequestMs - 1));
  CHECK(budget.Allows(start + kRequestMs));
  budget.Spend(start + kRequestMs);
  CHECK(!budget.Allows(start + kRequestMs));
}

TEST_CASE("request budget › is full again after a pause, and never fuller") {
  RequestBudget budget;
  for (int i = 0; i < kRequestBurst; i++) {
    budget.Spend(0);
  }
  const int64_t later = 10 * kRequestBurst * kRequestMs;
  for (int i = 0; i < kRequestBurst; i++) {
    REQUIRE(budget.Allows(later));
    budget.Spend(later);
  }
  CHECK(!budget.Allows(later));
}

}  // namespace
}  // namespace sprites
