// The whole engine, as a program, against correct and faulty relays: the report has exactly the
// faults that the relay committed.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "test/faulty_relay.h"
#include "test/plan_json.h"

namespace swarm {
namespace {

struct Ended {
  int exit_code = -1;
  std::string report;  // the last line on stdout
};

// SWARM_ENGINE is the path of the program; CMake defines it. Calls `on_line` with each line on
// stdout; the first line is the engine's process id.
Ended RunEngine(
    const Json& plan,
    const std::function<void(const std::string&)>& on_line = [](const std::string&) {}) {
  Ended ended;
  // The shell prints its process id and becomes the engine, which reads the plan.
  const std::string command = "echo $$; exec " + std::string(SWARM_ENGINE) +
                              " 2>/dev/null <<'PLAN'\n" + plan.dump() + "\nPLAN\n";
  std::FILE* out = popen(command.c_str(), "r");
  std::string line;
  for (int c = std::fgetc(out); c != EOF; c = std::fgetc(out)) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    ended.report = std::exchange(line, {});
    on_line(ended.report);
  }
  const int status = pclose(out);
  ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

// Reads a number of the report, without its fraction. `path` is like "lost" or "latencyUs.max".
uint64_t Number(const Ended& ended, std::string path) {
  std::replace(path.begin(), path.end(), '.', '/');
  const Json report = Json::parse(ended.report, nullptr, false);
  const Json::json_pointer member("/" + path);
  if (report.is_object() && report.contains(member) && report[member].is_number()) {
    return report[member].get<uint64_t>();
  }
  MESSAGE("no ", path, " in ", ended.report.substr(0, 300));
  return UINT64_MAX;
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  const std::string id = std::to_string(parent);
  std::ifstream file("/proc/" + id + "/task/" + id + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) {
    children.push_back(child);
  }
  return children;
}

// Whether it does something, or would if it had a core; not while it waits, nor when it has ended.
bool IsRunning(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const size_t name_end = stat.rfind(')');  // proc(5): the state follows the name
  const std::string_view state = std::string_view(stat).substr(std::min(name_end, stat.size()));
  return state.starts_with(") R") || state.starts_with(") D");
}

// 40 desktops, of which so many throw.
Json Throwing(uint32_t count) { return {{"throwing", count}, {"sitting", 40 - count}}; }

// A short run of 40 desktops, but with more throws than the period of any fault.
Json PlanFor(const std::vector<const FaultyRelay*>& relays, const Json& changes) {
  Json plan = PlanWith({{"apis", Json::array()},
                        {"mix", {{"throwing", 40}}},
                        {"settle", 0},
                        {"warmUp", 0.1},
                        {"duration", 0.9},
                        {"drain", 1}});
  for (const FaultyRelay* const relay : relays) {
    plan["apis"].push_back(relay->authority());
  }
  plan.update(changes);
  return plan;
}

Json PlanFor(const FaultyRelay& relay, const Json& changes) { return PlanFor({&relay}, changes); }

// The accounts that add up in every run.
void CheckAccounts(const Ended& ended) {
  const auto n = [&](const char* path) { return Number(ended, path); };
  CHECK_EQ(n("scheduled"), n("offered") + n("skipped"));
  CHECK_EQ(n("offered"), n("sent") + n("waiting"));
  CHECK_EQ(n("sent"), n("answered") + n("timedOut") + n("failed") + n("inFlight"));
  CHECK_EQ(n("answered"), n("accepted") + n("refused") + n("unexpected"));
  CHECK_EQ(n("accepted") + n("deliveredUnaccepted"), n("delivered") + n("lost") + n("undelivered"));
  CHECK_EQ(n("polls.sent"),
           n("polls.answered") + n("polls.cut") + n("polls.dropped") + n("polls.held"));
  CHECK_EQ(n("sayings.due"), n("sayings.said") + n("sayings.skipped"));
  CHECK_EQ(n("sayings.said"), n("sayings.accepted") + n("sayings.refused") + n("sayings.timedOut") +
                                  n("sayings.failed") + n("sayings.unanswered"));
  CHECK_EQ(n("sayings.owed") + n("sayings.unowed"), n("sayings.heard") + n("sayings.missed") +
                                                        n("sayings.gone") + n("sayings.underWay") +
                                                        n("sayings.lost"));
}

}  // namespace

TEST_CASE(
    "run: the report on a correct relay has no fault, in both models, with one process and with "
    "three") {
  const std::vector<Json> loads = {
      {{"load", Rate(2000)}},
      {{"load", Rate(2000)}, {"arrivals", "random"}, {"processes", 3}},
      {{"load", InFlight(8)}},
      {{"load", InFlight(9)}, {"processes", 3}},
  };
  for (const Json& load : loads) {
    const FaultyRelay relay({});
    const Ended ended = RunEngine(PlanFor(relay, load));
    CHECK_EQ(ended.exit_code, 0);
    CheckAccounts(ended);
    CHECK(Number(ended, "delivered") > 100);
    CHECK_EQ(Number(ended, "accepted"), relay.committed().accepted.load());
    for (const char* const fault :
         {"lost", "undelivered", "duplicated", "misrouted", "corrupted", "refused", "failed",
          "timedOut", "outOfOrder", "foreign", "skipped", "resent", "abandoned",
          "deliveredUnaccepted", "connections.badAnswers", "connections.cuts", "polls.cut"}) {
      CAPTURE(load.dump());
      CAPTURE(fault);
      CHECK_EQ(Number(ended, fault), 0U);
    }
  }
}

TEST_CASE("run: several relays get the same share of desktops and throws, and one account") {
  const std::vector<Json> loads = {
      {{"load", Rate(2000)}},
      {{"load", Rate(2000)}, {"processes", 3}, {"throwConnections", 9}},
      {{"load", InFlight(8)}},
      {{"load", Rate(2000)}, {"mix", {{"throwing", 24}, {"sitting", 24}}}, {"transport", "socket"}},
  };
  for (Json load : loads) {
    CAPTURE(load.dump());
    load.emplace("mix", Json{{"throwing", 48}});
    const FaultyRelay first({});
    const FaultyRelay second({});
    const FaultyRelay third({});
    const Ended ended = RunEngine(PlanFor({&first, &second, &third}, load));
    CHECK_EQ(ended.exit_code, 0);
    CheckAccounts(ended);
    CHECK_EQ(Number(ended, "across"), 0U);  // these relays do not know each other
    CHECK_EQ(Number(ended, "misrouted"), 0U);
    CHECK_EQ(Number(ended, "lost"), 0U);
    uint64_t sum = 0;
    for (const FaultyRelay* const relay : {&first, &second, &third}) {
      const uint64_t accepted = relay->committed().accepted.load();
      CHECK(accepted > Number(ended, "accepted") / 4);
      sum += accepted;
    }
    CHECK_EQ(sum, Number(ended, "accepted"));
  }
}

TEST_CASE("run: faults of one of several relays are found") {
  Faults faults;
  faults.drop_every = 10;
  faults.misroute_every = 7;
  const FaultyRelay good({});
  const FaultyRelay bad(faults);
  const Ended ended = RunEngine(PlanFor({&good, &bad}, {{"load", Rate(2000)}}));
  CHECK_EQ(ended.exit_code, 0);
  CheckAccounts(ended);
  CHECK_EQ(Number(ended, "lost"), bad.committed().dropped.load());
  CHECK_EQ(Number(ended, "misrouted"), bad.committed().misrouted.load());
}

TEST_CASE(
    "run: stages throw as many as the drawing of their rates has, and both accounts know it") {
  for (const char* const arrivals : {"even", "random"}) {
    const FaultyRelay relay({});
    const Json load = Stages({{0.5, 1000}, {0.5, 1000}, {0, 2000}, {0.5, 0}});
    const Ended ended = RunEngine(
        PlanFor(relay, {{"load", load}, {"drain", 2}, {"processes", 2}, {"arrivals", arrivals}}));
    CHECK_EQ(ended.exit_code, 0);
    CheckAccounts(ended);
    if (std::string(arrivals) == "even") {
      CHECK_EQ(Number(ended, "scheduled"), 1250U);
    }
    CHECK_EQ(Number(ended, "due"), Number(ended, "scheduled"));
    CHECK_EQ(Number(ended, "lost"), 0U);
  }
}

TEST_CASE("run: counts every lost, duplicated and misrouted sprite, also across processes") {
  for (const uint32_t processes : {1, 2}) {
    Faults faults;
    faults.drop_every = 97;
    faults.duplicate_every = 53;
    faults.misroute_every = 31;
    faults.refuse_every = 41;
    const FaultyRelay relay(faults);
    const Ended ended = RunEngine(PlanFor(relay, {{"load", Rate(2000)}, {"processes", processes}}));
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
  const Ended ended = RunEngine(PlanFor(relay, {{"load", Rate(1000)}}));
  CHECK(relay.committed().wrong_edge > 0);
  CHECK_EQ(Number(ended, "misrouted"), relay.committed().wrong_edge.load());
}

TEST_CASE("run: a sprite whose position, speed or picture was changed on the way is corrupted") {
  Faults faults;
  faults.corrupt_every = 13;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(PlanFor(relay, {{"load", Rate(1000)}}));
  CheckAccounts(ended);
  CHECK(relay.committed().corrupted > 20);  // each of the seven members, several times
  CHECK_EQ(Number(ended, "corrupted"), relay.committed().corrupted.load());
  CHECK_EQ(Number(ended, "misrouted"), 0U);
  CHECK_EQ(Number(ended, "lost"), 0U);
}

TEST_CASE("run: the drain waits for accepted sprites, however many refused ones have arrived") {
  Faults faults;
  faults.deliver_refused_every = 5;
  faults.delay_every = 7;
  faults.delay_ms = 900;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(PlanFor(relay, {{"load", Rate(1000)}, {"drain", 6}}));
  CheckAccounts(ended);
  CHECK(relay.committed().delayed > 20);
  CHECK_EQ(Number(ended, "deliveredUnaccepted"), relay.committed().delivered_refused.load());
  CHECK_EQ(Number(ended, "lost"), 0U);
  CHECK_EQ(Number(ended, "undelivered"), 0U);
}

TEST_CASE("run: what still arrives when the drain ends is undelivered, not lost") {
  Faults faults;
  faults.delay_every = 3;
  faults.delay_ms = 1500;
  const FaultyRelay relay(faults);
  // The sprites of the first throws arrive after the drain has begun, those of the last ones after
  // it has ended.
  const Ended ended =
      RunEngine(PlanFor(relay, {{"load", Rate(600)}, {"duration", 2}, {"drain", 0.3}}));
  CheckAccounts(ended);
  CHECK(Number(ended, "undelivered") > 50);
  CHECK_EQ(Number(ended, "lost"), 0U);
}

TEST_CASE("run: a number is not thrown again under the identity of a desktop that joined again") {
  for (const char* const transport : {"poll", "socket"}) {
    CAPTURE(transport);
    Faults faults;
    faults.end_every = 40;
    const FaultyRelay relay(faults);
    const Ended ended =
        RunEngine(PlanFor(relay, {{"load", Rate(1000)}, {"transport", transport}, {"drain", 4}}));
    CheckAccounts(ended);
    CHECK(relay.committed().ended > 5);
    CHECK_EQ(Number(ended, "duplicated"), 0U);
    CHECK_EQ(Number(ended, "failed") + Number(ended, "refused"), relay.committed().ended.load());
    CHECK_EQ(Number(ended, "misrouted"), 0U);
    CHECK_EQ(Number(ended, "lost"), 0U);
  }
}

TEST_CASE("run: an answer that is cut short is polled again, and its sprites arrive once") {
  Faults faults;
  faults.truncate_every = 31;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(PlanFor(relay, {{"load", Rate(1000)}, {"drain", 4}}));
  CheckAccounts(ended);
  CHECK(relay.committed().truncated > 10);
  CHECK_EQ(Number(ended, "polls.cut"), relay.committed().truncated.load());
  CHECK_EQ(Number(ended, "lost"), 0U);
  CHECK_EQ(Number(ended, "undelivered"), 0U);
  CHECK_EQ(Number(ended, "duplicated"), 0U);
}

TEST_CASE(
    "run: slices that are stopped across the end of the window or of the drain lose nothing") {
  struct Stop {
    size_t slices;  // how many of the three are stopped
    // They are stopped when the relay has accepted so many of the 1000 throws: long before the end
    // of the window, or a busy machine stops them in the drain, and longer than that takes.
    uint64_t accepted;
    int drained_ms;  // and go on so long after the end of the window
    bool leave;
  };
  // Long enough for all to arrive on a busy machine, and shorter than a stop.
  constexpr double kDrainS = 2;
  constexpr int kStopMs = 2500;
  uint64_t missed = 0;
  for (const Stop stop :
       {Stop{1, 300, 0, false}, Stop{3, 300, 0, false}, Stop{1, 300, kStopMs, false},
        Stop{3, 400, kStopMs, false}, Stop{1, 400, kStopMs, true}}) {
    CAPTURE(stop.slices);
    CAPTURE(stop.drained_ms);
    const FaultyRelay relay({});
    std::thread stopper;
    std::atomic<bool> is_window_over = false;
    uint64_t accepted_before = 0;
    pid_t engine = 0;
    const Ended ended = RunEngine(
        PlanFor(
            relay,
            {{"load", Rate(1000)}, {"processes", 3}, {"drain", kDrainS}, {"leave", stop.leave}}),
        [&](const std::string& line) {
          if (engine == 0) {
            engine = std::stoi(line);
          } else if (line.starts_with("{\"phase\":\"measure\"")) {
            stopper = std::thread([&] {
              while (relay.committed().accepted < stop.accepted && !is_window_over) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
              }
              std::vector<pid_t> slices = ChildrenOf(engine);
              slices.resize(std::min(slices.size(), stop.slices));
              for (const pid_t slice : slices) {
                kill(slice, SIGSTOP);
              }
              accepted_before = relay.committed().accepted;
              is_window_over.wait(false);
              std::this_thread::sleep_for(std::chrono::milliseconds(stop.drained_ms));
              for (const pid_t slice : slices) {
                kill(slice, SIGCONT);
              }
            });
          } else if (line.starts_with("{\"phase\":\"drain\"")) {
            is_window_over = true;
            is_window_over.notify_all();
          }
        });
    REQUIRE(stopper.joinable());
    is_window_over = true;  // also when the engine failed in the window
    is_window_over.notify_all();
    stopper.join();
    CHECK_EQ(ended.exit_code, 0);
    CheckAccounts(ended);
    CHECK_EQ(Number(ended, "scheduled"), 1000U);
    CHECK(Number(ended, "accepted") >= accepted_before);
    CHECK_EQ(Number(ended, "accepted"), relay.committed().accepted.load());
    for (const std::string wrong :
         {"lost", "undelivered", "duplicated", "misrouted", "foreign", "deliveredUnaccepted",
          "refused", "unexpected", "failed", "timedOut"}) {
      CAPTURE(wrong);
      CHECK_EQ(Number(ended, wrong), 0U);
    }
    // A throw that was due while its slice was stopped is skipped, not thrown after the window.
    CHECK_EQ(Number(ended, "missed"), Number(ended, "skipped"));
    CHECK_EQ(Number(ended, "accepted") + Number(ended, "missed"), 1000U);
    missed += Number(ended, "missed");
  }
  CHECK(missed > 0);
}

TEST_CASE("run: what a desktop says is heard once by everybody, beside sprites and without them") {
  for (const bool throws : {true, false}) {
    for (const char* const transport : {"poll", "socket"}) {
      CAPTURE(transport);
      CAPTURE(throws);
      const FaultyRelay relay({});
      const Json mix = {
          {"talking", 8}, {"throwing", throws ? 16 : 0}, {"sitting", throws ? 16 : 32}};
      const Ended ended = RunEngine(PlanFor(relay, {{"load", throws ? Rate(200) : Sitting()},
                                                    {"mix", mix},
                                                    {"talkRate", 20},
                                                    {"transport", transport},
                                                    {"processes", 2}}));
      CHECK_EQ(ended.exit_code, 0);
      CheckAccounts(ended);
      CHECK_EQ(Number(ended, "sayings.due"), 160U);
      CHECK(Number(ended, "sayings.accepted") > 80);
      CHECK_EQ(Number(ended, "sayings.accepted"), relay.committed().sayings.load());
      CHECK_EQ(Number(ended, "sayings.heard"), 40 * Number(ended, "sayings.accepted"));
      CHECK_EQ(Number(ended, "sayings.owed"), Number(ended, "sayings.heard"));
      CHECK(Number(ended, "hearingUs.count") > 0);
      CHECK_EQ(Number(ended, "sayings.corrupted"), 0U);
      CHECK_EQ(Number(ended, "delivered"), Number(ended, "accepted"));
    }
  }
}

TEST_CASE("run: counts every lost, missed, repeated, garbled and refused saying") {
  for (const char* const transport : {"poll", "socket"}) {
    CAPTURE(transport);
    Faults faults;
    faults.refuse_saying_every = 7;
    faults.lose_hearing_every = 97;
    faults.miss_hearing_every = 53;
    faults.repeat_hearing_every = 41;
    faults.garble_hearing_every = 31;
    const FaultyRelay relay(faults);
    const Json mix = {{"talking", 8}, {"sitting", 32}};
    const Ended ended = RunEngine(PlanFor(relay, {{"load", Sitting()},
                                                  {"mix", mix},
                                                  {"talkRate", 20},
                                                  {"transport", transport},
                                                  {"processes", 2}}));
    CHECK_EQ(ended.exit_code, 0);
    CheckAccounts(ended);
    const Committed& committed = relay.committed();
    CHECK(committed.hearings_lost > 20);
    CHECK_EQ(Number(ended, "sayings.refused"), committed.sayings_refused.load());
    CHECK_EQ(Number(ended, "otherRefusedByCode.too-fast"), committed.sayings_refused.load());
    CHECK_EQ(Number(ended, "sayings.lost"), committed.hearings_lost.load());
    CHECK_EQ(Number(ended, "sayings.missed"), committed.hearings_missed.load());
    CHECK_EQ(Number(ended, "sayings.again"), committed.hearings_repeated.load());
    CHECK(Number(ended, "sayings.corrupted") >= committed.hearings_garbled.load());
  }
}

TEST_CASE("run: a saying whose connection is cut is sent again under its number, and heard once") {
  Faults faults;
  faults.cut_saying_every = 9;
  const FaultyRelay relay(faults);
  const Json mix = {{"talking", 8}, {"sitting", 32}};
  const Ended ended =
      RunEngine(PlanFor(relay, {{"load", Sitting()}, {"mix", mix}, {"talkRate", 20}}));
  CHECK_EQ(ended.exit_code, 0);
  CheckAccounts(ended);
  CHECK(relay.committed().sayings_cut > 5);
  CHECK_EQ(Number(ended, "sayings.resent"), relay.committed().sayings_cut.load());
  CHECK_EQ(Number(ended, "sayings.accepted"), relay.committed().sayings.load());
  CHECK_EQ(Number(ended, "sayings.heard"), 40 * Number(ended, "sayings.accepted"));
}

TEST_CASE("run: each throw may open a connection of its own, and every sprite arrives once") {
  const FaultyRelay relay({});
  const Ended ended = RunEngine(
      PlanFor(relay, {{"load", Rate(200)}, {"throwConnections", "each"}, {"processes", 2}}));
  CHECK_EQ(ended.exit_code, 0);
  CheckAccounts(ended);
  CHECK_EQ(Number(ended, "accepted"), 200U);
  CHECK_EQ(Number(ended, "delivered"), 200U);
  CHECK_EQ(Number(ended, "resent"), 0U);
  // Joins of two processes, 40 polls, and one for each throw.
  CHECK(Number(ended, "connections.connects") >= 240);
  CHECK_EQ(Number(ended, "connections.cuts"), 0U);
}

TEST_CASE("run: desktops that peek see every stage, and notice those that are old or garbled") {
  for (const char* const transport : {"poll", "socket"}) {
    CAPTURE(transport);
    Faults faults;
    faults.repeat_stage_every = 11;
    faults.garble_stage_every = 13;
    const FaultyRelay relay(faults);
    const Json mix = {{"peeking", 40}};
    const Ended ended = RunEngine(PlanFor(relay, {{"load", Sitting()},
                                                  {"mix", mix},
                                                  {"duration", 2.9},
                                                  {"transport", transport},
                                                  {"processes", 2}}));
    CHECK_EQ(ended.exit_code, 0);
    CheckAccounts(ended);
    const Committed& committed = relay.committed();
    const uint64_t posted = committed.stages.load();
    CHECK(posted > 20);
    CHECK_EQ(Number(ended, "peeks.posted"), posted);
    CHECK_EQ(Number(ended, "peeks.accepted"), posted + 40);
    // The last ones may be on their way when the run ends.
    const uint64_t seen = Number(ended, "peeks.seen");
    const uint64_t corrupted = Number(ended, "peeks.corrupted");
    const uint64_t old = Number(ended, "peeks.old");
    CHECK((seen > 10 && seen <= posted - committed.stages_garbled));
    CHECK((corrupted > 0 && corrupted <= committed.stages_garbled));
    CHECK((old > 0 && old <= committed.stages_repeated));
  }
}

TEST_CASE("run: what nobody hears is gone, not lost, when polls that may have had it were cut") {
  Faults faults;
  faults.lose_hearing_every = 97;
  const FaultyRelay relay(faults);
  const Json mix = {{"talking", 8}, {"storming", 32}};
  const Ended ended = RunEngine(
      PlanFor(relay, {{"load", Sitting()}, {"mix", mix}, {"talkRate", 50}, {"actEvery", 0.1}}));
  CHECK_EQ(ended.exit_code, 0);
  CheckAccounts(ended);
  CHECK(Number(ended, "behaviours.reconnects") > 32);
  CHECK(relay.committed().hearings_lost > 10);
  CHECK(Number(ended, "sayings.gone") >= relay.committed().hearings_lost.load());
  CHECK_EQ(Number(ended, "sayings.lost"), 0U);
  CHECK_EQ(Number(ended, "sayings.again"), 0U);
}

TEST_CASE("run: what a slice has not read because it was stopped in the drain is not lost") {
  Faults faults;
  faults.delay_every = 2;
  faults.delay_ms = 800;
  constexpr int kDrainS = 2;
  const FaultyRelay relay(faults);
  std::thread stopper;
  pid_t engine = 0;
  const Ended ended =
      RunEngine(PlanFor(relay, {{"load", Rate(1000)}, {"processes", 3}, {"drain", 2}}),
                [&](const std::string& line) {
                  if (engine == 0) {
                    engine = std::stoi(line);
                  }
                  if (!line.starts_with("{\"phase\":\"drain\"")) {
                    return;
                  }
                  stopper = std::thread([&] {
                    const std::vector<pid_t> slices = ChildrenOf(engine);
                    // All were woken for the drain before the line was printed, so one that waits
                    // again has acknowledged it.
                    for (const pid_t slice : slices) {
                      while (IsRunning(slice)) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                      }
                    }
                    if (!slices.empty()) {
                      kill(slices[0], SIGSTOP);
                      // Beyond the end of the drain, so that what was delayed waits in its socket.
                      std::this_thread::sleep_for(std::chrono::seconds(2 * kDrainS));
                      kill(slices[0], SIGCONT);
                    }
                  });
                });
  stopper.join();
  CheckAccounts(ended);
  CHECK(relay.committed().delayed > 100);
  CHECK_EQ(Number(ended, "lost"), 0U);
  CHECK_EQ(Number(ended, "duplicated"), 0U);
}

TEST_CASE("run: a throw that is never answered has timed out, and a late arrival is late") {
  Faults faults;
  faults.mute_every = 101;
  faults.delay_every = 67;
  faults.delay_ms = 400;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(PlanFor(
      relay, {{"load", Rate(1000)}, {"postTimeout", 1.5}, {"lateAfter", 0.35}, {"drain", 6}}));
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
  const Ended ended = RunEngine(PlanFor(relay, {{"load", Rate(1000)}, {"drain", 4}}));
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
  const Ended ended = RunEngine(PlanFor(relay, {{"load", Rate(500)}, {"drain", 4}}));
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
  const Ended ended = RunEngine(PlanFor(relay, {{"load", Rate(1000)}, {"drain", 4}}));
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
  const Ended ended = RunEngine(PlanFor(relay, {{"load", Rate(1000)}}));
  CheckAccounts(ended);
  // A third of the throws due in the window waited, some of them for the whole stall.
  CHECK(Number(ended, "latencyUs.max") >= 390'000);
  CHECK(Number(ended, "latencyUs.p90") >= 200'000);
}

TEST_CASE("run: a connection that the relay closes on its side only is opened again") {
  for (const char* const transport : {"poll", "socket"}) {
    CAPTURE(transport);
    Faults faults;
    faults.half_close_every = 23;
    const FaultyRelay relay(faults);
    const Ended ended =
        RunEngine(PlanFor(relay, {{"load", Rate(1000)}, {"drain", 4}, {"transport", transport}}));
    CheckAccounts(ended);
    CHECK(relay.committed().half_closed > 10);
    CHECK_EQ(Number(ended, "lost"), 0U);
    CHECK_EQ(Number(ended, "undelivered"), 0U);
    CHECK_EQ(Number(ended, "duplicated"), 0U);
    CHECK(Number(ended, "delivered") > 900);
  }
}

TEST_CASE("run on sockets: the report on a correct relay has no fault, with any load") {
  const std::vector<Json> loads = {
      {{"load", Rate(2000)}},
      {{"load", Rate(2000)}, {"arrivals", "random"}, {"processes", 3}},
      {{"load", InFlight(9)}, {"processes", 3}},
      {{"load", Rate(1000)}, {"spriteBytes", 1024}},
      {{"load", Stages({{0.5, 1000}, {0.5, 1000}})}},
  };
  for (Json load : loads) {
    CAPTURE(load.dump());
    load["transport"] = "socket";
    const FaultyRelay relay({});
    const Ended ended = RunEngine(PlanFor(relay, load));
    CHECK_EQ(ended.exit_code, 0);
    CheckAccounts(ended);
    CHECK(Number(ended, "delivered") > 100);
    CHECK_EQ(Number(ended, "accepted"), relay.committed().accepted.load());
    CHECK_EQ(relay.committed().socket_crossings.load(), Number(ended, "sent"));
    CHECK_EQ(Number(ended, "sockets.opened"), 40U);
    for (const char* const fault :
         {"lost", "undelivered", "duplicated", "misrouted", "corrupted", "refused", "failed",
          "timedOut", "outOfOrder", "foreign", "skipped", "resent", "abandoned",
          "deliveredUnaccepted", "connections.badAnswers", "connections.cuts", "polls.cut",
          "sockets.refused", "sockets.closes"}) {
      CAPTURE(fault);
      CHECK_EQ(Number(ended, fault), 0U);
    }
    // A closed loop throws as fast as its sockets may.
    CHECK((Number(ended, "sockets.paced") == 0 || load["load"]["kind"] == "closed"));
  }
}

TEST_CASE("run on sockets: counts every lost, duplicated, misrouted, refused and changed sprite") {
  for (const uint32_t processes : {1, 2}) {
    Faults faults;
    faults.drop_every = 97;
    faults.duplicate_every = 53;
    faults.misroute_every = 31;
    faults.refuse_every = 41;
    faults.corrupt_every = 43;
    const FaultyRelay relay(faults);
    const Ended ended = RunEngine(
        PlanFor(relay, {{"load", Rate(2000)}, {"transport", "socket"}, {"processes", processes}}));
    CHECK_EQ(ended.exit_code, 0);
    CheckAccounts(ended);
    const Committed& committed = relay.committed();
    CHECK(committed.dropped > 0);
    CHECK(committed.corrupted > 20);
    CHECK_EQ(Number(ended, "lost"), committed.dropped.load());
    CHECK_EQ(Number(ended, "duplicated"), committed.duplicated.load());
    CHECK_EQ(Number(ended, "misrouted"), committed.misrouted.load());
    CHECK_EQ(Number(ended, "corrupted"), committed.corrupted.load());
    CHECK_EQ(Number(ended, "refusedByCode.mailbox-full"), committed.refused.load());
    CHECK_EQ(Number(ended, "accepted"), committed.accepted.load());
  }
}

TEST_CASE(
    "run on sockets: fragments with pings between them change nothing, and pings are answered") {
  Faults faults;
  faults.chunked = true;
  const FaultyRelay relay(faults);
  const Ended ended =
      RunEngine(PlanFor(relay, {{"load", Rate(500)}, {"transport", "socket"}, {"drain", 4}}));
  CHECK_EQ(ended.exit_code, 0);
  CheckAccounts(ended);
  CHECK(Number(ended, "accepted") > 400);
  CHECK(relay.committed().pongs > 1000);
  CHECK(Number(ended, "sockets.pings") >= relay.committed().pongs);
  CHECK_EQ(Number(ended, "lost"), 0U);
  CHECK_EQ(Number(ended, "duplicated"), 0U);
  CHECK_EQ(Number(ended, "connections.badAnswers"), 0U);
}

TEST_CASE(
    "run on sockets: what was thrown on a socket that breaks is sent again, and arrives once") {
  struct Broken {
    uint32_t Faults::*fault;
    std::atomic<uint64_t> Committed::*committed;
  };
  for (const Broken& broken : {Broken{&Faults::cut_every, &Committed::cut},
                               Broken{&Faults::truncate_every, &Committed::truncated},
                               Broken{&Faults::close_every, &Committed::closed}}) {
    Faults faults;
    faults.*broken.fault = 29;
    const FaultyRelay relay(faults);
    const Ended ended =
        RunEngine(PlanFor(relay, {{"load", Rate(1000)}, {"transport", "socket"}, {"drain", 4}}));
    CheckAccounts(ended);
    const uint64_t committed = (relay.committed().*broken.committed).load();
    CHECK(committed > 10);
    // The run may end before the swarm has read a close that came after the last batch.
    const uint64_t cuts = Number(ended, "connections.cuts");
    CHECK((cuts <= committed && cuts + 3 >= committed));
    const uint64_t opened_again = Number(ended, "sockets.opened") - 40;
    CHECK((opened_again <= cuts && opened_again + 3 >= cuts));
    CHECK_EQ(Number(ended, "sockets.closes"), broken.fault == &Faults::close_every ? cuts : 0);
    if (broken.fault == &Faults::close_every) {
      CHECK((relay.committed().closes + 3 >= cuts));  // the last ones may not have been read
    }
    CHECK(Number(ended, "delivered") > 900);
    CHECK_EQ(Number(ended, "failed"), 0U);
    CHECK_EQ(Number(ended, "lost"), 0U);
    CHECK_EQ(Number(ended, "undelivered"), 0U);
    CHECK_EQ(Number(ended, "duplicated"), 0U);
    CHECK_EQ(Number(ended, "misrouted"), 0U);
  }
}

TEST_CASE("run on sockets: bytes that are not frames are counted, and the socket opens again") {
  Faults faults;
  faults.garbage_every = 37;
  const FaultyRelay relay(faults);
  const Ended ended =
      RunEngine(PlanFor(relay, {{"load", Rate(1000)}, {"transport", "socket"}, {"drain", 4}}));
  CheckAccounts(ended);
  CHECK(relay.committed().garbage > 0);
  CHECK_EQ(Number(ended, "connections.badAnswers"), relay.committed().garbage.load());
  CHECK_EQ(Number(ended, "sockets.opened"), 40 + relay.committed().garbage.load());
}

TEST_CASE("run on sockets: a refused upgrade is tried again after a pause") {
  Faults faults;
  faults.refuse_upgrade_every = 3;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(PlanFor(relay, {{"load", Rate(500)}, {"transport", "socket"}}));
  CHECK_EQ(ended.exit_code, 0);
  CheckAccounts(ended);
  CHECK(relay.committed().upgrades_refused > 10);
  CHECK_EQ(Number(ended, "sockets.refused"), relay.committed().upgrades_refused.load());
  CHECK_EQ(Number(ended, "otherRefusedByCode.relay-busy"), Number(ended, "sockets.refused"));
  CHECK_EQ(Number(ended, "sockets.opened"), 40U);
  CHECK_EQ(Number(ended, "lost"), 0U);
}

TEST_CASE("run on sockets: an upgrade that is never answered is given up after 10 s") {
  Faults faults;
  faults.mute_upgrade_every = 30;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(PlanFor(relay, {{"load", Rate(500)}, {"transport", "socket"}}));
  CHECK_EQ(ended.exit_code, 0);
  CheckAccounts(ended);
  CHECK_EQ(relay.committed().upgrades_muted.load(), 1U);
  CHECK_EQ(Number(ended, "sockets.opened"), 40U);
  CHECK_EQ(Number(ended, "connections.cuts"), 1U);
  CHECK(Number(ended, "joins.seconds") >= 10);
  CHECK(Number(ended, "joins.seconds") < 25);
}

TEST_CASE("run on sockets: a verdict that never comes has timed out, and the socket stays open") {
  Faults faults;
  faults.mute_every = 101;
  const FaultyRelay relay(faults);
  const Ended ended = RunEngine(PlanFor(
      relay, {{"load", Rate(1000)}, {"transport", "socket"}, {"postTimeout", 1.5}, {"drain", 6}}));
  CheckAccounts(ended);
  CHECK(relay.committed().muted > 0);
  CHECK_EQ(Number(ended, "timedOut"), relay.committed().muted.load());
  CHECK_EQ(Number(ended, "inFlight"), 0U);
  CHECK_EQ(Number(ended, "sockets.opened"), 40U);
  CHECK_EQ(Number(ended, "lost"), 0U);
}

TEST_CASE(
    "run on sockets: no socket sends faster than the relay reads, and the swarm is the limit") {
  const FaultyRelay relay({});
  // Each of two throwers is to throw 1,000 a second.
  const Ended ended = RunEngine(PlanFor(
      relay, {{"load", Rate(2000)}, {"transport", "socket"}, {"mix", Throwing(2)}, {"drain", 4}}));
  CheckAccounts(ended);
  CHECK(Number(ended, "sockets.paced") > 0);
  CHECK(Number(ended, "sent") <= 2 * (400 + 450 * 7));
  CHECK(ended.report.find("\"limit\":\"swarm\"") != std::string::npos);
  CHECK_EQ(Number(ended, "lost"), 0U);
}

TEST_CASE("run on sockets: storming, churning, slow and hostile desktops leave the account exact") {
  const FaultyRelay relay({});
  const Ended ended = RunEngine(
      PlanFor(relay, {{"load", Rate(500)},
                      {"transport", "socket"},
                      {"duration", 3},
                      {"drain", 4},
                      {"processes", 2},
                      {"actEvery", 0.5},
                      {"readLate", 0.3},
                      {"mix", {{"throwing", 20}, {"storming", 8}, {"slow", 8}, {"hostile", 4}}}}));
  CHECK_EQ(ended.exit_code, 0);
  CheckAccounts(ended);
  CHECK(Number(ended, "behaviours.reconnects") >= 24);
  CHECK(Number(ended, "sockets.opened") >= 36 + 24);
  CHECK(Number(ended, "away") > 0);
  CHECK_EQ(Number(ended, "lost"), 0U);
  CHECK_EQ(Number(ended, "undelivered"), 0U);
  CHECK_EQ(Number(ended, "duplicated"), 0U);
  CHECK_EQ(Number(ended, "misrouted"), 0U);
}

TEST_CASE("run: when the relay dies, the report is partial but adds up, and the exit code is 1") {
  FaultyRelay relay({});
  const Json pids = Json::array({relay.pid()});
  const Json plan = PlanFor(relay, {{"load", Rate(1000)}, {"duration", 20}, {"watchPids", pids}});
  std::thread killer([&] {
    while (relay.committed().accepted < 300) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    relay.Kill();
  });
  const Ended ended = RunEngine(plan);
  killer.join();
  CHECK_EQ(ended.exit_code, 1);
  CheckAccounts(ended);
  CHECK(Number(ended, "delivered") > 200);
  CHECK(ended.report.find("\"ok\":false") != std::string::npos);
}

TEST_CASE("run: says which relay it cannot reach") {
  const Ended ended = RunEngine(PlanWith({{"apis", Json::array({"127.0.0.1:1"})}}));
  CHECK_EQ(ended.exit_code, 1);
  CHECK(ended.report.find("cannot reach a relay at 127.0.0.1:1") != std::string::npos);
}

TEST_CASE("run: a wrong plan exits with 2") {
  CHECK_EQ(RunEngine(PlanWith({{"load", "none"}})).exit_code, 2);
  CHECK_EQ(RunEngine(Json::array()).exit_code, 2);
}

}  // namespace swarm
