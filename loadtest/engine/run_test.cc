// The whole engine, as a program, against relays that are right and relays that are not: what the
// relay did wrong is what the report says, number for number.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include "faulty_relay.h"
#include "json_reader.h"

namespace swarm {
namespace {

struct Ended {
  int exit_code = -1;
  std::string report;  // the last line on stdout
};

// SWARM_ENGINE is the program's path, from CMake.
Ended RunEngine(const std::string& flags) {
  Ended ended;
  std::FILE* out = popen((std::string(SWARM_ENGINE) + " " + flags + " 2>/dev/null").c_str(), "r");
  std::string line;
  for (int c = std::fgetc(out); c != EOF; c = std::fgetc(out)) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    ended.report = std::exchange(line, {});
  }
  const int status = pclose(out);
  ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

// "lost", or "latencyUs.max"; the whole part.
uint64_t Number(const Ended& ended, std::string_view path) {
  JsonReader json(ended.report);
  std::string_view key;
  uint64_t value = 0;
  json.EnterObject();
  while (json.NextMember(&key)) {
    const size_t dot = path.find('.');
    if (key != path.substr(0, dot)) {
      json.Skip();
    } else if (dot != std::string_view::npos) {
      path.remove_prefix(dot + 1);
      json.EnterObject();
    } else {
      if (json.Unsigned(&value)) {
        return value;
      }
    }
  }
  MESSAGE("no ", path, " in ", ended.report.substr(0, 300));
  return UINT64_MAX;
}

// Short, but more throws than any fault's period.
std::string Flags(const FaultyRelay& relay, const std::string& more) {
  return "--api " + relay.authority() +
         " --desktops 40 --settle 0 --warm-up 100ms --duration 900ms --drain 1 " + more;
}

// What holds in every run: nobody's account is off by one.
void CheckAccount(const Ended& ended) {
  const auto n = [&](std::string_view path) { return Number(ended, path); };
  CHECK_EQ(n("offered"), n("sent") + n("waiting") + n("skipped"));
  CHECK_EQ(n("sent"), n("answered") + n("timedOut") + n("failed") + n("inFlight"));
  CHECK_EQ(n("answered"), n("accepted") + n("refused") + n("unexpected"));
  CHECK_EQ(n("accepted") + n("deliveredUnaccepted"), n("delivered") + n("lost"));
  CHECK_EQ(n("polls.sent"), n("polls.answered") + n("polls.cut") + n("polls.held"));
}

}  // namespace

TEST_CASE(
    "run: a relay that is right gets a report without a fault, in both models, in one process and "
    "in three") {
  for (const char* const load :
       {"--rate 2000", "--rate 2000 --arrivals random --processes 3", "--in-flight 8",
        "--in-flight 9 --processes 3", "--in-flight 40 --senders 10 --pipeline 4"}) {
    const FaultyRelay relay({});
    const Ended ended = RunEngine(Flags(relay, load));
    CHECK_EQ(ended.exit_code, 0);
    CheckAccount(ended);
    CHECK(Number(ended, "delivered") > 100);
    CHECK_EQ(Number(ended, "accepted"), relay.committed().accepted.load());
    for (const char* const fault :
         {"lost", "duplicated", "misrouted", "refused", "failed", "timedOut", "outOfOrder",
          "foreign", "skipped", "resent", "abandoned", "deliveredUnaccepted",
          "connections.badAnswers", "connections.cuts", "polls.cut"}) {
      CAPTURE(load);
      CAPTURE(fault);
      CHECK_EQ(Number(ended, fault), 0U);
    }
  }
}

TEST_CASE("run: finds every lost, duplicated and misrouted sprite, also across processes") {
  for (const char* const processes : {"1", "2"}) {
    Faults faults;
    faults.drop_every = 97;
    faults.duplicate_every = 53;
    faults.misroute_every = 31;
    faults.refuse_every = 41;
    const FaultyRelay relay(faults);
    const Ended ended =
        RunEngine(Flags(relay, std::string("--rate 2000 --processes ") + processes));
    CHECK_EQ(ended.exit_code, 0);
    CheckAccount(ended);
    const Committed& committed = relay.committed();
    CHECK(committed.dropped > 0);
    CHECK(committed.misrouted > 0);
    CHECK_EQ(Number(ended, "lost"), committed.dropped.load());
    CHECK_EQ(Number(ended, "duplicated"), committed.duplicated.load());
    CHECK_EQ(Number(ended, "misrouted"), committed.misrouted.load());
    CHECK_EQ(Number(ended, "refusedByCode.mailbox-full"), committed.refused.load());
    CHECK_EQ(Number(ended, "accepted"), committed.accepted.load());
  }
}

TEST_CASE("run: a sprite that comes in by the wrong edge is misrouted") {
  Faults faults;
  faults.wrong_edge_every = 17;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(Flags(relay, "--rate 1000"));
  CHECK(relay.committed().wrong_edge > 0);
  CHECK_EQ(Number(ended, "misrouted"), relay.committed().wrong_edge.load());
}

TEST_CASE("run: counts throws that are never answered as timed out, and late arrivals as late") {
  Faults faults;
  faults.mute_every = 101;
  faults.delay_every = 67;
  faults.delay_ms = 400;
  const FaultyRelay relay(faults);
  const Ended ended =
      RunEngine(Flags(relay, "--rate 1000 --post-timeout 1500ms --late-after 350ms --drain 6"));
  CheckAccount(ended);
  CHECK(relay.committed().muted > 0);
  CHECK(relay.committed().delayed > 0);
  // Timed out, closed, and counted; no throw is left in the air.
  CHECK_EQ(Number(ended, "timedOut"), relay.committed().muted.load());
  CHECK_EQ(Number(ended, "inFlight"), 0U);
  CHECK(Number(ended, "late") >= relay.committed().delayed.load());
  CHECK_EQ(Number(ended, "lost"), 0U);
}

TEST_CASE(
    "run: a throw whose connection is cut is thrown again under its number, and arrives once") {
  Faults faults;
  faults.cut_every = 29;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(Flags(relay, "--rate 1000 --drain 4"));
  CheckAccount(ended);
  CHECK(relay.committed().cut > 0);
  CHECK_EQ(Number(ended, "resent"), relay.committed().cut.load());
  CHECK_EQ(Number(ended, "failed"), 0U);
  CHECK_EQ(Number(ended, "lost"), 0U);
  CHECK_EQ(Number(ended, "duplicated"), 0U);
}

TEST_CASE("run: answers in small chunks, and a connection for each answer, change nothing") {
  Faults faults;
  faults.chunked = true;
  faults.close_always = true;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(Flags(relay, "--rate 500 --drain 4"));
  CHECK_EQ(ended.exit_code, 0);
  CheckAccount(ended);
  CHECK_EQ(Number(ended, "accepted"), relay.committed().accepted.load());
  CHECK(Number(ended, "accepted") > 400);
  CHECK_EQ(Number(ended, "lost"), 0U);
  CHECK_EQ(Number(ended, "duplicated"), 0U);
}

TEST_CASE("run: answers that are no HTTP are counted, and end neither the swarm nor its account") {
  Faults faults;
  faults.garbage_every = 37;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(Flags(relay, "--rate 1000 --drain 4"));
  CheckAccount(ended);
  CHECK(relay.committed().garbage > 0);
  CHECK_EQ(Number(ended, "connections.badAnswers"), relay.committed().garbage.load());
}

TEST_CASE(
    "run: a relay that stops for 400 ms shows it in the tail, though it answered nothing in that "
    "time") {
  Faults faults;
  faults.stall_at = 500;
  faults.stall_ms = 400;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(Flags(relay, "--rate 1000"));
  CheckAccount(ended);
  // A third of what was due in the window waited, some of it the whole time.
  CHECK(Number(ended, "latencyUs.max") >= 390'000);
  CHECK(Number(ended, "latencyUs.p90") >= 200'000);
}

TEST_CASE(
    "run: a relay that dies in the middle leaves a partial report that adds up, and exit code 1") {
  FaultyRelay relay({});
  const std::string flags = Flags(relay, "--rate 1000 --watch-pids " + std::to_string(relay.pid()));
  std::thread killer([&] {
    while (relay.committed().accepted < 300) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    relay.Kill();
  });
  const Ended ended = RunEngine(flags + " --duration 20");
  killer.join();
  CHECK_EQ(ended.exit_code, 1);
  CheckAccount(ended);
  CHECK(Number(ended, "delivered") > 200);
  CHECK(ended.report.find("\"ok\":false") != std::string::npos);
}

TEST_CASE("run: a relay that is not there is said to be unreachable") {
  const Ended ended = RunEngine("--sitting --api 127.0.0.1:1");
  CHECK_EQ(ended.exit_code, 1);
  CHECK(ended.report.find("cannot reach a relay at 127.0.0.1:1") != std::string::npos);
}

TEST_CASE("run: a command line that makes no sense is exit code 2") {
  CHECK_EQ(RunEngine("--rate 5 --sitting").exit_code, 2);
  CHECK_EQ(RunEngine("--help").exit_code, 0);
}

}  // namespace swarm
