// The whole engine, as a program, against correct and faulty relays: the report has exactly the
// faults that the relay committed.
#include <doctest/doctest.h>
#include <sys/wait.h>

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

// SWARM_ENGINE is the path of the program; CMake defines it.
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

// Reads a number of the report, without its fraction. `path` is like "lost" or "latencyUs.max".
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

// A short run, but with more throws than the period of any fault.
std::string Flags(const FaultyRelay& relay, const std::string& more) {
  return "--api " + relay.authority() +
         " --desktops 40 --settle 0 --warm-up 100ms --duration 900ms --drain 1 " + more;
}

// The accounts that add up in every run.
void CheckAccounts(const Ended& ended) {
  const auto n = [&](std::string_view path) { return Number(ended, path); };
  CHECK_EQ(n("offered"), n("sent") + n("waiting") + n("skipped"));
  CHECK_EQ(n("sent"), n("answered") + n("timedOut") + n("failed") + n("inFlight"));
  CHECK_EQ(n("answered"), n("accepted") + n("refused") + n("unexpected"));
  CHECK_EQ(n("accepted") + n("deliveredUnaccepted"), n("delivered") + n("lost"));
  CHECK_EQ(n("polls.sent"), n("polls.answered") + n("polls.cut") + n("polls.held"));
}

}  // namespace

TEST_CASE(
    "run: the report on a correct relay has no fault, in both models, with one process and with "
    "three") {
  for (const char* const load :
       {"--rate 2000", "--rate 2000 --arrivals random --processes 3", "--in-flight 8",
        "--in-flight 9 --processes 3", "--in-flight 40 --senders 10 --pipeline 4"}) {
    const FaultyRelay relay({});
    const Ended ended = RunEngine(Flags(relay, load));
    CHECK_EQ(ended.exit_code, 0);
    CheckAccounts(ended);
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

TEST_CASE("run: counts every lost, duplicated and misrouted sprite, also across processes") {
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
    CheckAccounts(ended);
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

TEST_CASE("run: a sprite that enters by the wrong edge is misrouted") {
  Faults faults;
  faults.wrong_edge_every = 17;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(Flags(relay, "--rate 1000"));
  CHECK(relay.committed().wrong_edge > 0);
  CHECK_EQ(Number(ended, "misrouted"), relay.committed().wrong_edge.load());
}

TEST_CASE("run: a throw that is never answered has timed out, and a late arrival is late") {
  Faults faults;
  faults.mute_every = 101;
  faults.delay_every = 67;
  faults.delay_ms = 400;
  const FaultyRelay relay(faults);
  const Ended ended =
      RunEngine(Flags(relay, "--rate 1000 --post-timeout 1500ms --late-after 350ms --drain 6"));
  CheckAccounts(ended);
  CHECK(relay.committed().muted > 0);
  CHECK(relay.committed().delayed > 0);
  // Every one of them has timed out; no throw is in flight any more.
  CHECK_EQ(Number(ended, "timedOut"), relay.committed().muted.load());
  CHECK_EQ(Number(ended, "inFlight"), 0U);
  CHECK(Number(ended, "late") >= relay.committed().delayed.load());
  CHECK_EQ(Number(ended, "lost"), 0U);
}

TEST_CASE("run: a throw whose connection is cut is sent again under its number, and arrives once") {
  Faults faults;
  faults.cut_every = 29;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(Flags(relay, "--rate 1000 --drain 4"));
  CheckAccounts(ended);
  CHECK(relay.committed().cut > 0);
  CHECK_EQ(Number(ended, "resent"), relay.committed().cut.load());
  CHECK_EQ(Number(ended, "failed"), 0U);
  CHECK_EQ(Number(ended, "lost"), 0U);
  CHECK_EQ(Number(ended, "duplicated"), 0U);
}

TEST_CASE("run: answers in small chunks, and a new connection for each answer, change nothing") {
  Faults faults;
  faults.chunked = true;
  faults.close_always = true;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(Flags(relay, "--rate 500 --drain 4"));
  CHECK_EQ(ended.exit_code, 0);
  CheckAccounts(ended);
  CHECK_EQ(Number(ended, "accepted"), relay.committed().accepted.load());
  CHECK(Number(ended, "accepted") > 400);
  CHECK_EQ(Number(ended, "lost"), 0U);
  CHECK_EQ(Number(ended, "duplicated"), 0U);
}

TEST_CASE("run: answers that are not HTTP are counted, and the swarm goes on") {
  Faults faults;
  faults.garbage_every = 37;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(Flags(relay, "--rate 1000 --drain 4"));
  CheckAccounts(ended);
  CHECK(relay.committed().garbage > 0);
  CHECK_EQ(Number(ended, "connections.badAnswers"), relay.committed().garbage.load());
}

TEST_CASE(
    "run: a stall of 400 ms shows in the tail, although the relay answered nothing in that time") {
  Faults faults;
  faults.stall_at = 500;
  faults.stall_ms = 400;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(Flags(relay, "--rate 1000"));
  CheckAccounts(ended);
  // A third of the throws due in the window waited, some of them for the whole stall.
  CHECK(Number(ended, "latencyUs.max") >= 390'000);
  CHECK(Number(ended, "latencyUs.p90") >= 200'000);
}

TEST_CASE("run: when the relay dies, the report is partial but adds up, and the exit code is 1") {
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
  CheckAccounts(ended);
  CHECK(Number(ended, "delivered") > 200);
  CHECK(ended.report.find("\"ok\":false") != std::string::npos);
}

TEST_CASE("run: says which relay it cannot reach") {
  const Ended ended = RunEngine("--sitting --api 127.0.0.1:1");
  CHECK_EQ(ended.exit_code, 1);
  CHECK(ended.report.find("cannot reach a relay at 127.0.0.1:1") != std::string::npos);
}

TEST_CASE("run: a misused command line exits with 2") {
  CHECK_EQ(RunEngine("--rate 5 --sitting").exit_code, 2);
  CHECK_EQ(RunEngine("--help").exit_code, 0);
}

}  // namespace swarm
