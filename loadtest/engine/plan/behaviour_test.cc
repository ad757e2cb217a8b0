#include "plan/behaviour.h"

#include <doctest/doctest.h>

#include <cmath>

namespace swarm {

TEST_CASE("behaviour: each occurs as often as the mix says, and in proportion at any point") {
  const Mix mix = {40, 20, 10, 10, 10, 0, 7, 3};
  MixOrder order(mix);
  Mix seen{};
  for (int i = 1; i <= 100; ++i) {
    ++seen[static_cast<size_t>(order.Next())];
    for (size_t b = 0; b < mix.size(); ++b) {
      const double due = mix[b] * i / 100.0;
      CHECK(std::abs(seen[b] - due) <= 1.5);
    }
  }
  CHECK(seen == mix);
}

TEST_CASE("behaviour: a single behaviour is that of every desktop") {
  MixOrder order({0, 0, 0, 0, 0, 0, 0, 3});
  for (int i = 0; i < 3; ++i) {
    CHECK(order.Next() == Behaviour::kHostile);
  }
}

}  // namespace swarm
