// What a run does: the plan that the engine is given as JSON, checked.
//
// tools/engine_plan.ts documents the members of the document, and the programs that start the
// engine write and check it. Here they are read: a member that is absent, unknown or of another
// type is an error. What the plan leaves to the engine is decided: how many slices, and from which
// addresses they connect.
#ifndef LOADTEST_ENGINE_PLAN_OPTIONS_H_
#define LOADTEST_ENGINE_PLAN_OPTIONS_H_

#include <cstdint>
#include <istream>
#include <stdexcept>
#include <string>
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
  std::vector<std::string> apis;  // one for each relay
  std::string events;             // empty: the address in the answer to a join
  std::string crossings;          // the same
  std::string socket;             // the same
  std::string ca;                 // PEM, trusted instead of the system's authorities; empty: these
  std::string world;              // empty: the relay's default
  std::string name;
  // How many machines share the world and the account; of several, the fleet that they are, and
  // which of them this is.
  uint32_t machines = 1;
  uint16_t fleet = 0;
  uint16_t machine = 0;
  // What sprites show, SHA-256 in hex. With some, desktops have no name, so the relay gives them
  // one.
  std::vector<std::string> pictures;

  uint32_t desktops = 0;
  Mix mix{};                       // how many desktops of each behaviour
  uint32_t senders = 0;            // desktops that throw
  uint32_t throw_connections = 0;  // 1 … senders, or 0 when sitting
  bool throw_each = false;         // each throw opens a connection, which the relay closes
  Transport transport = Transport::kPoll;
  Mode mode = Mode::kOpen;
  Toward toward = Toward::kAny;
  double rate = 0;            // open: throws a second of the whole run; with stages: the most
  std::vector<Stage> stages;  // open: instead of a constant rate; they last for the whole window
  uint32_t in_flight = 0;     // closed: throws in flight in the whole run
  Arrivals arrivals = Arrivals::kEven;
  uint32_t sprite_bytes = 0;  // the body of a throw is padded up to it
  uint64_t seed = 0;

  double talk_rate = 0;  // sayings a second of each desktop that talks
  double act_every_s = 0;
  double read_late_s = 0;

  double connect_rate = 0;     // desktops a second
  uint32_t connect_batch = 1;  // how many of them start together
  double connect_timeout_s = 0;
  double settle_s = 0;
  double warm_up_s = 0;
  double duration_s = 0;
  double drain_s = 0;
  double post_timeout_s = 0;
  double gone_after_s = 0;
  double late_after_s = 0;
  double slip_max_s = 0;  // a swarm whose throws leave later than this is the limit of the run
  double poll_overdue_s = 0;
  bool leave = false;
  bool start_on_stdin = false;
  bool print_seconds = false;

  uint32_t processes = 0;  // how many slices
  Sources sources;         // not empty for an IPv4 relay
  std::vector<int> watch_pids;
};

// How many throws a second are wanted; only in the open model.
RateCurve CurveOf(const Options& options);

// The plan is not one that the engine can carry out; what() says which member, and why.
class WrongPlan : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Descriptors that a slice needs besides the connections of its desktops and senders: standard
// streams, epoll, one event descriptor for each slice, connections for joining.
uint32_t SpareDescriptors(uint32_t slices);

// Reads one JSON object and the rest of its last line, and nothing after it. `descriptors_max` is
// RLIMIT_NOFILE of a process. Throws WrongPlan.
Options ReadPlan(std::istream& in, uint64_t descriptors_max);

}  // namespace swarm

#endif  // LOADTEST_ENGINE_PLAN_OPTIONS_H_
