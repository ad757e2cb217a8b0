// What a run does: everything on the command line, checked.
#ifndef LOADTEST_ENGINE_PLAN_OPTIONS_H_
#define LOADTEST_ENGINE_PLAN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/address.h"
#include "plan/behaviour.h"
#include "plan/rate_curve.h"
#include "plan/schedule.h"

namespace swarm {

// Connections of a slice for joining and leaving.
constexpr uint32_t kJoinConnections = 8;

// Relays of one run. A slice knows at most 254 addresses, and each relay has two or three.
constexpr size_t kRelaysMax = 64;

enum class Mode : uint8_t { kSitting, kOpen, kClosed };

// Where throws of a swarm on several relays go.
enum class Toward : uint8_t {
  kAny,
  kWithin,  // to desktops of the thrower's relay
  kAcross,  // to desktops of other relays
};

// What desktops hold and throw on.
enum class Transport : uint8_t {
  kPoll,    // long-polls, and a POST for each throw
  kSocket,  // a WebSocket each, for both
};

struct Options {
  std::vector<std::string> apis = {"127.0.0.1:8080"};  // one for each relay
  std::string events;                                  // empty: the address in the answer to a join
  std::string crossings;                               // the same
  std::string socket;                                  // the same
  std::string ca;     // PEM, trusted instead of the system's authorities; empty: these
  std::string world;  // empty: the relay's default
  std::string name = "fake";
  // What sprites show, SHA-256 in hex. With some, desktops have no name, so the relay gives them
  // one.
  std::vector<std::string> pictures;

  uint32_t desktops = 1000;
  Mix mix{};                       // after parsing: how many desktops of each behaviour
  uint32_t senders = 0;            // after parsing: desktops that throw
  uint32_t throw_connections = 0;  // after parsing: 1 … senders, or 0 when sitting
  Transport transport = Transport::kPoll;
  Mode mode = Mode::kOpen;
  Toward toward = Toward::kAny;
  double rate = 0;            // open: throws a second of the whole run; with stages: the most
  std::vector<Stage> stages;  // open: instead of a constant rate; they last for the whole window
  uint32_t in_flight = 0;     // closed: throws in flight in the whole run
  uint32_t pipeline = 1;      // throws of one sender on the wire at the same time
  Arrivals arrivals = Arrivals::kEven;
  uint32_t sprite_bytes = 0;  // the body of a throw is padded up to it
  uint64_t seed = 1;

  double act_every_s = 5;
  double read_late_s = 2;

  double connect_rate = 10'000;  // desktops a second
  uint32_t connect_batch = 1;    // how many of them start together
  double connect_timeout_s = 120;
  double settle_s = 1;
  double warm_up_s = 2;
  double duration_s = 10;
  double drain_s = 10;
  double post_timeout_s = 10;
  double gone_after_s = 5;
  double late_after_s = 1;
  double slip_max_s = 0.002;  // a swarm whose throws leave later than this is the limit of the run
  double poll_overdue_s = 150;  // the longest poll lasts 120 s + 10 %; the rest is margin
  bool leave = false;
  bool start_on_stdin = false;
  bool spin = false;
  bool print_seconds = false;

  uint32_t processes = 0;  // after parsing: how many slices
  Sources sources;         // after parsing: not empty for an IPv4 relay
  std::vector<int> watch_pids;
};

// How many throws a second are wanted; only in the open model.
RateCurve CurveOf(const Options& options);

struct Parsed {
  enum class Kind : uint8_t { kRun, kHelp, kMisuse };
  Kind kind = Kind::kRun;
  std::string message;  // the help, or what is wrong
};

// Descriptors that a slice needs besides the connections of its desktops and senders: standard
// streams, epoll, one event descriptor for each slice, connections for joining.
uint32_t SpareDescriptors(uint32_t slices);

// Fills `options`. `descriptors_max` is RLIMIT_NOFILE of a process.
Parsed ParseOptions(const std::vector<std::string_view>& arguments, uint64_t descriptors_max,
                    Options* options);

}  // namespace swarm

#endif  // LOADTEST_ENGINE_PLAN_OPTIONS_H_
