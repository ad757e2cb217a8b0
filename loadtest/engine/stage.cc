#include "stage.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "json_reader.h"

namespace swarm {
namespace {

constexpr int64_t kRetryFirstMs = 50;
constexpr int64_t kRetryMostMs = 5'000;
constexpr uint64_t kRetryAfterMostMs = 30'000;  // a relay cannot put the swarm to sleep for a day

}  // namespace

Problem ReadProblem(const HttpResponse& response) {
  Problem problem;
  problem.code = "other";
  if (response.retry_after_seconds > 0) {
    problem.retry_after_ms = static_cast<uint64_t>(response.retry_after_seconds) * 1000;
  }
  JsonReader json(response.body);
  std::string_view key;
  if (!json.EnterObject()) {
    return problem;
  }
  while (json.NextMember(&key)) {
    if (key == "code" && json.Peek() == '"') {
      json.String(&problem.code);
    } else if (key == "cursor" && json.Peek() == '"') {
      json.String(&problem.cursor);
    } else {
      json.Skip();
    }
  }
  return problem;
}

Stage::Stage(const Options& options, SharedRun& run, uint32_t slice, uint32_t run_id,
             int64_t started_ns)
    : options(options),
      run(run),
      board(run.board(slice)),
      ledger(run.ledger(slice)),
      departed(run.departed()),
      slice(slice),
      run_id(run_id),
      started_ns(started_ns),
      first_desktop(FirstOf(slice, run.slices(), options.desktops)),
      epoll(epoll_create1(EPOLL_CLOEXEC)),
      desktops(FirstOf(slice + 1, run.slices(), options.desktops) - first_desktop),
      random(options.seed * 0x9e3779b97f4a7c15U + slice) {
  if (epoll < 0) {
    throw std::system_error(errno, std::generic_category(), "epoll_create1");
  }
  api_endpoint = endpoints.IndexOf(options.api);
  MixOrder order(options.mix);
  for (uint32_t i = 0; i < first_desktop; ++i) {
    order.Next();
  }
  for (Desktop& desktop : desktops) {
    desktop.behaviour = order.Next();
  }
}

Stage::~Stage() { close(epoll); }

bool Stage::Begin(Connection& connection, uint64_t tag, uint8_t endpoint, uint32_t pick) {
  ++counters.connects;
  int error = EHOSTUNREACH;
  if (endpoint != Endpoints::kUnknown) {
    error = connection.Begin(epoll, tag, endpoints.At(endpoint), options.sources, pick);
  }
  if (error == 0) {
    ++connecting;
    return true;
  }
  ++counters.connects_failed;
  if (error == EADDRNOTAVAIL) {
    ++counters.addresses_exhausted;
  }
  if (error == ECONNREFUSED) {
    ++counters.connects_refused;
  }
  return false;
}

bool Stage::Finish(Connection& connection, uint32_t events) {
  --connecting;
  const int error = connection.Finish(events);
  if (error == 0) {
    ++counters.connections_open;
    return true;
  }
  ++counters.connects_failed;
  if (error == ECONNREFUSED) {
    ++counters.connects_refused;
  }
  return false;
}

bool Stage::Send(Connection& connection, std::string_view bytes) {
  counters.bytes_out += bytes.size();
  return connection.Send(bytes);
}

void Stage::Close(Connection& connection) {
  if (connection.state() == Connection::State::kConnecting) {
    --connecting;
  } else if (connection.open()) {
    --counters.connections_open;
  }
  connection.Close();
}

void Stage::TryLater(Part part, uint32_t index, uint8_t* tries, uint64_t at_least_ms) {
  const int64_t doubled = kRetryFirstMs << std::min<uint8_t>(*tries, 10);
  if (*tries < UINT8_MAX) {
    ++*tries;
  }
  const auto floor_ms = static_cast<int64_t>(std::min(at_least_ms, kRetryAfterMostMs));
  const auto pause_ms = static_cast<double>(std::max(std::min(doubled, kRetryMostMs), floor_ms));
  // From half of the pause (or all of what the relay asked for) to one and a half.
  const double jittered =
      floor_ms > 0 ? pause_ms * (1 + random.Unit() / 2) : pause_ms * (0.5 + random.Unit());
  TryAt(part, index, NowNs() + static_cast<int64_t>(jittered * kNsPerMs));
}

bool Stage::PopTry(int64_t now_ns, Part* part, uint32_t* index) {
  if (calendar_.empty() || calendar_.top().when_ns > now_ns) {
    return false;
  }
  *part = calendar_.top().part;
  *index = calendar_.top().index;
  calendar_.pop();
  return true;
}

}  // namespace swarm
