#include "account/process_watch.h"

#include <doctest/doctest.h>
#include <unistd.h>

namespace swarm {

TEST_CASE("process watch: finds the times after a name with brackets and blanks") {
  ProcessUse use;
  CHECK(ParseStat("12 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 250 150 0 0 20 0 1 0 55", 100, &use));
  CHECK_EQ(use.user_s, 2.5);
  CHECK_EQ(use.system_s, 1.5);
  CHECK(!ParseStat("", 100, &use));
  CHECK(!ParseStat("12 (a) S 1 2 3", 100, &use));
}

TEST_CASE("process watch: parses a line in kilobytes as bytes") {
  uint64_t bytes = 0;
  CHECK(ParseKilobytes("a\nRss:     12 kB\nPss: 3 kB\n", "\nRss:", &bytes));
  CHECK_EQ(bytes, 12'288U);
  CHECK(!ParseKilobytes("a\n", "\nRss:", &bytes));
}

TEST_CASE("process watch: reads this process, and fails for one that does not exist") {
  ProcessUse use;
  CHECK(ReadProcesses({getpid()}, true, &use));
  CHECK(use.rss_bytes > 100'000);
  CHECK(!ReadProcesses({getpid(), (1 << 22) + 1}, true, &use));
  CHECK(ReadProcesses({}, true, &use));
}

}  // namespace swarm
