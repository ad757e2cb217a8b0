#include "core/desktop/files/startup_approval.h"

#include <doctest/doctest.h>

#include <array>

namespace sprites {
namespace {

TEST_CASE("startup approval › a program starts unless the person has turned it off") {
  using Value = std::array<uint8_t, kApprovalBytes>;
  CHECK(IsStartupApproved({}));
  for (const uint8_t on : {uint8_t{0}, uint8_t{2}, uint8_t{6}}) {
    CHECK(IsStartupApproved(Value{on}));
  }
  for (const uint8_t off : {uint8_t{1}, uint8_t{3}, uint8_t{7}, uint8_t{9}}) {
    CHECK(!IsStartupApproved(Value{off, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}));
  }
}

}  // namespace
}  // namespace sprites
