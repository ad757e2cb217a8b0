#include "options.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace swarm {
namespace {

Parsed Parse(const std::vector<std::string_view>& arguments, Options* options,
             uint64_t descriptors_max = 20'000) {
  return ParseOptions(arguments, descriptors_max, options);
}

bool Misused(const std::vector<std::string_view>& arguments) {
  Options options;
  const Parsed parsed = Parse(arguments, &options);
  return parsed.kind == Parsed::Kind::kMisuse && !parsed.message.empty();
}

}  // namespace

TEST_CASE("options: a rate makes an open model, with what was not said left at its default") {
  Options options;
  CHECK(Parse({"--rate", "2000", "--duration=500ms", "--leave"}, &options).kind ==
        Parsed::Kind::kRun);
  CHECK(options.mode == Mode::kOpen);
  CHECK_EQ(options.rate, 2000);
  CHECK_EQ(options.duration_s, 0.5);
  CHECK_EQ(options.desktops, 1000U);
  CHECK_EQ(options.senders, 1000U);
  CHECK_EQ(options.processes, 1U);
  CHECK(options.leave);
}

TEST_CASE("options: the help names every default it promises") {
  Options options;
  const Parsed parsed = Parse({"--help"}, &options);
  CHECK(parsed.kind == Parsed::Kind::kHelp);
  for (const double value :
       {options.connect_rate, options.connect_timeout_s, options.settle_s, options.warm_up_s,
        options.duration_s, options.drain_s, options.post_timeout_s, options.late_after_s,
        options.poll_overdue_s, static_cast<double>(options.desktops)}) {
    CHECK(parsed.message.find("(" + std::to_string(static_cast<int>(value)) + ")") !=
          std::string::npos);
  }
}

TEST_CASE(
    "options: as many processes as the descriptors demand, and loopback sources for their ports") {
  Options options;
  CHECK(Parse({"--sitting", "--desktops", "200000"}, &options).kind == Parsed::Kind::kRun);
  CHECK_EQ(options.processes, 11U);
  CHECK_EQ(options.sources.size(), 15U);
  CHECK_EQ(options.senders, 0U);
  Options more;
  CHECK(Parse({"--rate", "1", "--desktops", "200000", "--sources", "127.0.1.1-127.0.1.9,127.0.2.1"},
              &more)
            .kind == Parsed::Kind::kRun);
  CHECK_EQ(more.sources.size(), 10U);
}

TEST_CASE("options: a closed loop has more senders than relays in flight") {
  Options options;
  CHECK(Parse({"--in-flight", "4000", "--desktops", "10000"}, &options).kind == Parsed::Kind::kRun);
  CHECK(options.mode == Mode::kClosed);
  CHECK_EQ(options.senders, 8000U);
}

TEST_CASE(
    "options: shares become numbers of desktops that add up, the rest going where most was cut") {
  Options options;
  CHECK(
      Parse({"--rate", "5", "--desktops", "10", "--mix", "throwing=2,sitting=1"}, &options).kind ==
      Parsed::Kind::kRun);
  CHECK(options.mix == (Mix{3, 7, 0, 0, 0, 0}));
  CHECK_EQ(options.senders, 7U);
  CHECK_EQ(options.throw_connections, 7U);
  Options exact;
  Parse({"--rate", "5", "--desktops", "6", "--mix",
         "sitting=1,throwing=1,storming=1,churning=1,slow=1,hostile=1"},
        &exact);
  CHECK(exact.mix == (Mix{1, 1, 1, 1, 1, 1}));
  Options shared;
  Parse({"--rate", "5", "--desktops", "100000", "--mix", "throwing=1", "--throw-connections", "50"},
        &shared);
  CHECK_EQ(shared.throw_connections, 50U);
  CHECK_EQ(shared.processes, 6U);
}

TEST_CASE("options: says what is wrong") {
  CHECK(Misused({}));
  CHECK(Misused({"--rate"}));
  CHECK(Misused({"--rate", "0"}));
  CHECK(Misused({"--rate", "-5"}));
  CHECK(Misused({"--rate", "5x"}));
  CHECK(Misused({"--rate", "inf"}));
  CHECK(Misused({"--rate", "5", "--sitting"}));
  CHECK(Misused({"--rate", "5", "--in-flight", "5"}));
  CHECK(Misused({"--rate", "5", "extra"}));
  CHECK(Misused({"--rate", "5", "--unknown", "5"}));
  CHECK(Misused({"--rate", "5", "--leave=yes"}));
  CHECK(Misused({"--rate", "5", "--duration", "5 fortnights"}));
  CHECK(Misused({"--rate", "5", "--arrivals", "odd"}));
  CHECK(Misused({"--rate", "5", "--api", "nowhere"}));
  CHECK(Misused({"--rate", "5", "--api", "127.0.0.1:70000"}));
  CHECK(Misused({"--rate", "5", "--events", "127.0.0.1:0"}));
  CHECK(Misused({"--rate", "5", "--sources", "127.0.0.9-127.0.0.1"}));
  CHECK(Misused({"--rate", "5", "--world", "a\"b"}));
  CHECK(Misused({"--rate", "5", "--desktops", "0"}));
  CHECK(Misused({"--rate", "5", "--desktops", "99999999"}));
  CHECK(Misused({"--rate", "5", "--desktops", "5", "--senders", "6"}));
  CHECK(Misused({"--rate", "5", "--desktops", "5", "--processes", "6"}));
  CHECK(Misused({"--sitting", "--senders", "5"}));
  CHECK(Misused({"--in-flight", "11", "--desktops", "10"}));
  CHECK(Misused({"--sitting", "--desktops", "200000", "--processes", "2"}));
  CHECK(Misused({"--rate", "5", "--watch-pids", "1,,2"}));
  CHECK(Misused({"--rate", "5", "--mix", "sitting=1"}));
  CHECK(Misused({"--sitting", "--mix", "throwing=1,sitting=1"}));
  CHECK(Misused({"--sitting", "--mix", "hostile=1"}));
  CHECK(Misused({"--rate", "5", "--mix", "throwing=1", "--senders", "5"}));
  CHECK(Misused({"--rate", "5", "--mix", "throwing=1,throwing=2"}));
  CHECK(Misused({"--rate", "5", "--mix", "dancing=1"}));
  CHECK(Misused({"--rate", "5", "--mix", "throwing"}));
  CHECK(Misused({"--rate", "5", "--mix", "throwing=0"}));
}

TEST_CASE("options: a file limit that holds nothing is said to be too low") {
  Options options;
  CHECK(Parse({"--sitting"}, &options, 16).kind == Parsed::Kind::kMisuse);
}

}  // namespace swarm
