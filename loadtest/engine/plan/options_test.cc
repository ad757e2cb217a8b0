#include "plan/options.h"

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

TEST_CASE(
    "options: --rate selects the open model, and flags that are not given keep their defaults") {
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

TEST_CASE("options: --api takes one relay or several, up to a limit") {
  Options one;
  CHECK(Parse({"--rate", "5"}, &one).kind == Parsed::Kind::kRun);
  CHECK_EQ(one.apis.size(), 1U);
  std::string apis = "127.0.0.1:1";
  for (size_t relay = 2; relay <= kRelaysMax; ++relay) {
    apis += ",127.0.0.1:" + std::to_string(relay);
  }
  Options most;
  CHECK(Parse({"--rate", "5", "--toward", "across", "--api", apis}, &most).kind ==
        Parsed::Kind::kRun);
  CHECK_EQ(most.apis.size(), kRelaysMax);
  CHECK(most.toward == Toward::kAcross);
  Options more;
  apis += ",127.0.0.1:65";
  CHECK(Parse({"--rate", "5", "--api", apis}, &more).kind == Parsed::Kind::kMisuse);
}

TEST_CASE("options: throws that share connections need one for each relay in each process") {
  const std::vector<std::string_view> shared = {
      "--rate", "5", "--processes", "2", "--api", "127.0.0.1:1,127.0.0.1:2", "--throw-connections"};
  for (const auto& [connections, kind] :
       {std::pair{"3", Parsed::Kind::kMisuse}, std::pair{"4", Parsed::Kind::kRun},
        std::pair{"5", Parsed::Kind::kRun}}) {
    Options options;
    std::vector<std::string_view> arguments = shared;
    arguments.emplace_back(connections);
    CHECK(Parse(arguments, &options).kind == kind);
  }
}

TEST_CASE("options: how late the swarm may throw is 2 ms unless given") {
  Options options;
  Parse({"--rate", "5"}, &options);
  CHECK_EQ(options.slip_max_s, 0.002);
  Parse({"--rate", "5", "--slip-max", "100ms"}, &options);
  CHECK_EQ(options.slip_max_s, 0.1);
}

TEST_CASE("options: on sockets each desktop throws on its own connection, which needs fewer") {
  Options options;
  CHECK(Parse({"--rate", "5"}, &options).kind == Parsed::Kind::kRun);
  CHECK(options.transport == Transport::kPoll);
  // 1,000 desktops, 1,000 connections that throw, and the spare descriptors.
  Options polls;
  CHECK(Parse({"--rate", "5"}, &polls, 2050).kind == Parsed::Kind::kRun);
  CHECK_EQ(polls.processes, 1U);
  Options both;
  CHECK(Parse({"--rate", "5"}, &both, 1050).kind == Parsed::Kind::kRun);
  CHECK_EQ(both.processes, 2U);
  Options sockets;
  CHECK(Parse({"--rate", "5", "--transport", "socket", "--socket", "127.0.0.1:80"}, &sockets, 1050)
            .kind == Parsed::Kind::kRun);
  CHECK(sockets.transport == Transport::kSocket);
  CHECK_EQ(sockets.processes, 1U);
  CHECK_EQ(sockets.throw_connections, 1000U);
  CHECK(Misused({"--rate", "5", "--transport", "pigeon"}));
  CHECK(Misused({"--rate", "5", "--transport", "socket", "--throw-connections", "10"}));
  CHECK(Misused({"--rate", "5", "--socket", "nowhere"}));
}

TEST_CASE("options: stages are the window, without a warm-up, and their most is the rate") {
  Options options;
  CHECK(Parse({"--stages", "30s:1000,2m:3000,0s:500,500ms:0", "--duration", "5"}, &options).kind ==
        Parsed::Kind::kRun);
  CHECK(options.mode == Mode::kOpen);
  CHECK_EQ(options.stages.size(), 4U);
  CHECK_EQ(options.rate, 3000);
  CHECK_EQ(options.warm_up_s, 0);
  CHECK_EQ(options.duration_s, 150.5);
  std::string most = "1s:1";
  for (int i = 1; i < 100; ++i) {
    most += ",1s:1";
  }
  Options other;
  CHECK(Parse({"--stages", most}, &other).kind == Parsed::Kind::kRun);
  CHECK(Parse({"--stages", most + ",1s:1"}, &other).kind == Parsed::Kind::kMisuse);
}

TEST_CASE("options: the help shows the defaults") {
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
    "options: uses as many processes as the descriptors need, and loopback sources for their "
    "ports") {
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

TEST_CASE("options: a closed loop has more senders than throws in flight") {
  Options options;
  CHECK(Parse({"--in-flight", "4000", "--desktops", "10000"}, &options).kind == Parsed::Kind::kRun);
  CHECK(options.mode == Mode::kClosed);
  CHECK_EQ(options.senders, 8000U);
}

TEST_CASE(
    "options: shares become numbers of desktops that add up; the remainder goes where rounding cut "
    "most") {
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

TEST_CASE("options: rejects wrong values and combinations") {
  CHECK(Misused({}));
  CHECK(Misused({"--rate"}));
  CHECK(Misused({"--rate", "0"}));
  CHECK(Misused({"--rate", "-5"}));
  CHECK(Misused({"--rate", "5x"}));
  CHECK(Misused({"--rate", "inf"}));
  CHECK(Misused({"--rate", "5", "--sitting"}));
  CHECK(Misused({"--rate", "5", "--in-flight", "5"}));
  CHECK(Misused({"--rate", "5", "--stages", "5s:10"}));
  for (const char* const wrong : {"5s", "5s:", ":5", "5s:x", "5s:-1", "5s:0", "0s:5", "50ms:9",
                                  "5s:10000001", "8h:1,7000h:1"}) {
    CAPTURE(wrong);
    CHECK(Misused({"--stages", wrong}));
  }
  CHECK(Misused({"--rate", "5", "extra"}));
  CHECK(Misused({"--rate", "5", "--unknown", "5"}));
  CHECK(Misused({"--rate", "5", "--leave=yes"}));
  CHECK(Misused({"--rate", "5", "--duration", "5 fortnights"}));
  CHECK(Misused({"--rate", "5", "--arrivals", "odd"}));
  CHECK(Misused({"--rate", "5", "--api", "nowhere"}));
  CHECK(Misused({"--rate", "5", "--api", "127.0.0.1:70000"}));
  CHECK(Misused({"--rate", "5", "--api", "127.0.0.1:1,"}));
  CHECK(Misused({"--rate", "5", "--api", "127.0.0.1:1,127.0.0.1:1"}));
  CHECK(Misused({"--rate", "5", "--api", "127.0.0.1:1,nowhere"}));
  CHECK(Misused({"--rate", "5", "--toward", "across"}));
  CHECK(Misused({"--rate", "5", "--toward", "up", "--api", "127.0.0.1:1,127.0.0.1:2"}));
  CHECK(Misused({"--in-flight", "5", "--toward", "across", "--api", "127.0.0.1:1,127.0.0.1:2"}));
  CHECK(Misused({"--rate", "5", "--events", "127.0.0.1:3", "--api", "127.0.0.1:1,127.0.0.1:2"}));
  CHECK(Misused({"--rate", "5", "--events", "127.0.0.1:0"}));
  CHECK(Misused({"--rate", "5", "--sources", "127.0.0.9-127.0.0.1"}));
  CHECK(Misused({"--rate", "5", "--world", "a\"b"}));
  for (const std::string& wrong : {std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'A'),
                                   std::string(64, 'a') + ","}) {
    CAPTURE(wrong);
    CHECK(Misused({"--rate", "5", "--pictures", wrong}));
  }
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

TEST_CASE("options: a message names the flag, the range and the value") {
  const auto message = [](const std::vector<std::string_view>& arguments) {
    Options options;
    return Parse(arguments, &options).message;
  };
  CHECK_EQ(message({"--sitting", "--desktops", "99999999"}),
           "--desktops must be a whole number from 1 to 16777215; got '99999999'");
  CHECK_EQ(message({"--sitting", "--desktops", "-5"}),
           "--desktops must be a whole number from 1 to 16777215; got '-5'");
  CHECK_EQ(message({"--sitting", "--desktops=-5"}),
           "--desktops must be a whole number from 1 to 16777215; got '-5'");
  CHECK_EQ(
      message({"--rate", "-1"}),
      "--rate must be a number of throws a second, more than 0 and at most 10000000; got '-1'");
  CHECK_EQ(message({"--rate", "5", "--duration", "-3"}),
           "--duration must be a time from 100ms to 7 days, for example 10, 500ms, 2s or 1m; got "
           "'-3'");
  CHECK_EQ(message({"--rate", "5", "--desktops"}),
           "--desktops needs a value: a whole number from 1 to 16777215");
  CHECK_EQ(message({"--rate", "5", "--desktops", "5", "--senders", "6"}),
           "--senders (6) must be at most --desktops (5)");
  CHECK_EQ(message({"-5"}), "unknown flag '-5'");
}

TEST_CASE("options: rejects a file limit that is too low for any desktop") {
  Options options;
  CHECK(Parse({"--sitting"}, &options, 16).kind == Parsed::Kind::kMisuse);
}

}  // namespace swarm
