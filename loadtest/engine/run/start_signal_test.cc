#include "run/start_signal.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "plan/clock.h"
#include "test/faulty_relay.h"
#include "test/plan_json.h"

namespace swarm {
namespace {

using State = StartSignal::State;

// A pipe whose ends are closed with it.
struct Pipe {
  Pipe() { REQUIRE_EQ(pipe(ends), 0); }
  ~Pipe() {
    close(ends[0]);
    Close();
  }
  void Write(const std::string& text) const {
    REQUIRE_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void Close() {
    if (ends[1] >= 0) {
      close(ends[1]);
    }
    ends[1] = -1;
  }
  int ends[2];
};

// The last line that the engine prints when this follows its plan on stdin, and its exit code.
std::string RunEngine(const FaultyRelay& relay, const std::string& input, int* exit_code) {
  const Json plan = PlanWith({{"apis", Json::array({relay.authority()})},
                              {"mix", {{"throwing", 20}}},
                              {"load", Rate(200)},
                              {"settle", 0},
                              {"warmUp", 0.1},
                              {"duration", 0.3},
                              {"drain", 1},
                              {"startOnStdin", true}});
  const std::string command =
      "printf '%s\\n' '" + plan.dump() + "' " + input + " | " + SWARM_ENGINE + " 2>/dev/null";
  std::FILE* out = popen(command.c_str(), "r");
  std::string last;
  std::string line;
  for (int c = std::fgetc(out); c != EOF; c = std::fgetc(out)) {
    if (c == '\n') {
      last.swap(line);
      line.clear();
    } else {
      line += static_cast<char>(c);
    }
  }
  const int status = pclose(out);
  *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return last;
}

}  // namespace

TEST_CASE("start signal: waits for a whole line, in however many pieces it comes") {
  const Pipe pipe;
  StartSignal signal(pipe.ends[0]);
  CHECK_EQ(signal.Poll(), State::kWaiting);
  pipe.Write("17000000");
  CHECK_EQ(signal.Poll(), State::kWaiting);
  pipe.Write("00123\n");
  CHECK_EQ(signal.Poll(), State::kReceived);
  CHECK_EQ(signal.start_at_ms(), 1'700'000'000'123U);
}

TEST_CASE("start signal: is closed by the end of the input, and by a line that is not a time") {
  for (const char* const text : {"", "17", "soon\n", "\n", "12 \n", "-1\n"}) {
    CAPTURE(text);
    Pipe pipe;
    pipe.Write(text);
    pipe.Close();
    CHECK_EQ(StartSignal(pipe.ends[0]).Poll(), State::kClosed);
  }
  const Pipe endless;
  endless.Write(std::string(1000, '1'));
  CHECK_EQ(StartSignal(endless.ends[0]).Poll(), State::kClosed);
}

TEST_CASE("start signal: the first throw of a run is at that time, and never before it") {
  const FaultyRelay relay({});
  int exit_code = -1;
  const uint64_t at_ms = WallMs() + 2000;
  const std::string report = RunEngine(relay, std::to_string(at_ms), &exit_code);
  CHECK_EQ(exit_code, 0);
  constexpr uint64_t kCutMs = 2;  // two times of the report are cut to whole milliseconds
  const auto from_ms = Json::parse(report)["window"]["fromMs"].get<uint64_t>();
  CHECK(from_ms + kCutMs >= at_ms + 100);
}

TEST_CASE("start signal: a run whose signal never comes is not complete, and throws nothing") {
  const FaultyRelay relay({});
  int exit_code = -1;
  const std::string report = RunEngine(relay, "", &exit_code);
  CHECK_EQ(exit_code, 1);
  CHECK(report.find("the signal to start never came") != std::string::npos);
  CHECK_EQ(relay.committed().accepted.load(), 0U);
}

}  // namespace swarm
