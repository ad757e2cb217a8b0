#include "io/deadline_wheel.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <map>
#include <random>
#include <vector>

namespace sprites {
namespace {

constexpr uint32_t kTick = DeadlineWheel::kTickMs;
constexpr uint64_t kTwoTicks = 2 * uint64_t{kTick};

std::vector<Index> Expired(DeadlineWheel* wheel, uint64_t now_ms) {
  std::vector<Index> expired;
  wheel->SetNow(now_ms);
  for (;;) {
    uint32_t visits = 0;
    const Index index = wheel->NextExpired(&visits);
    if (index == kNoIndex && visits <= DeadlineWheel::kVisitsMax) {
      return expired;
    }
    if (index != kNoIndex) {
      expired.push_back(index);
    }
  }
}

TEST_CASE("deadline wheel › expires a deadline never early, and at most two ticks late") {
  for (const uint32_t delay : {0u, 1u, kTick, 10'000u, DeadlineWheel::kDeadlineMsMax}) {
    ConnectionTable table;
    DeadlineWheel wheel(&table, 1000);
    const Index index = table.Allocate(0);
    const uint64_t start = 1'000'000;
    REQUIRE(Expired(&wheel, start).empty());
    wheel.Arm(index, delay);
    REQUIRE((delay == 0 || Expired(&wheel, start + delay - 1).empty()));
    REQUIRE(Expired(&wheel, start + delay + kTwoTicks) == std::vector<Index>{index});
  }
}

TEST_CASE("deadline wheel › forgets a disarmed deadline, and that of an unlinked record") {
  ConnectionTable table;
  DeadlineWheel wheel(&table, 0);
  const Index disarmed = table.Allocate(0);
  const Index unlinked = table.Allocate(0);
  wheel.Arm(disarmed, 1000);
  wheel.Arm(unlinked, 1000);
  wheel.Disarm(disarmed);
  wheel.Unlink(unlinked);
  REQUIRE(Expired(&wheel, 5000).empty());
  REQUIRE(wheel.MsUntilNext(5000) == -1);
}

TEST_CASE("deadline wheel › continues in the next pass after the most visits of one") {
  ConnectionTable table;
  DeadlineWheel wheel(&table, 0);
  const uint32_t count = 3 * DeadlineWheel::kVisitsMax;
  for (uint32_t i = 0; i < count; ++i) {
    wheel.Arm(table.Allocate(0), 1000);
  }
  wheel.SetNow(2000);
  uint32_t passes = 0;
  uint32_t expired = 0;
  while (wheel.MsUntilNext(2000) == 0) {
    uint32_t visits = 0;
    while (wheel.NextExpired(&visits) != kNoIndex) {
      ++expired;
    }
    REQUIRE(visits <= DeadlineWheel::kVisitsMax + 1);
    ++passes;
  }
  REQUIRE(expired == count);
  REQUIRE(passes >= 3);
}

TEST_CASE(
    "deadline wheel › agrees with a sorted map through arming, moving, disarming and closing") {
  const uint32_t seed = std::random_device{}();
  printf("  seed %u\n", seed);
  std::mt19937 random(seed);
  ConnectionTable table;
  DeadlineWheel wheel(&table, 0);
  uint64_t now = 0;
  std::map<Index, uint64_t> due;  // the earliest moment at which each may expire
  std::vector<Index> live;
  for (int step = 0; step < 200'000; ++step) {
    const uint32_t what = random() % 10;
    if (what < 3 || live.empty()) {
      const Index index = table.Allocate(0);
      REQUIRE(index != kNoIndex);
      live.push_back(index);
      wheel.Arm(index, 10'000);
      due[index] = now + 10'000;
    } else if (what < 8) {
      const Index index = live[random() % live.size()];
      if (what == 3) {
        wheel.Disarm(index);
        due.erase(index);
      } else if (what < 6) {
        wheel.ArmLongest(index, 65'000);
        due[index] = now + 65'000;
      } else {
        const uint32_t delay = random() % 30'000;
        wheel.Arm(index, delay);
        due[index] = now + delay;
      }
    } else if (what == 8) {
      const size_t at = random() % live.size();
      wheel.Unlink(live[at]);
      table.Release(live[at]);
      table.EndPass();
      due.erase(live[at]);
      live[at] = live.back();
      live.pop_back();
    } else {
      // Mostly small steps; sometimes the loop was blocked for minutes.
      now += random() % 100 == 0 ? random() % 200'000 : random() % 700;
      for (const Index index : Expired(&wheel, now)) {
        REQUIRE(due.count(index) == 1);
        REQUIRE(due[index] <= now);
        due.erase(index);
      }
      for (const auto& [index, at] : due) {
        REQUIRE(at + kTwoTicks > now);
      }
    }
  }
}

}  // namespace
}  // namespace sprites
