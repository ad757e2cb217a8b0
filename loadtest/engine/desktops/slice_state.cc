#include "desktops/slice_state.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "wire/rules.h"

namespace swarm {
namespace {

// A relay cannot put the swarm to sleep for a day.
constexpr uint64_t kRetryAfterMsMax = rules::kByeMsMax;

}  // namespace

SliceState::SliceState(const Options& options, SharedRun& run, uint32_t index, uint32_t run_id,
                       int64_t started_ns)
    : options(options),
      run(run),
      board(run.board(index)),
      ledger(run.ledger(index)),
      sayings(run.sayings(index)),
      departed(run.departed()),
      index(index),
      run_id(run_id),
      started_ns(started_ns),
      first_desktop(ShareBegin(index, run.slices(), options.desktops)),
      epoll(epoll_create1(EPOLL_CLOEXEC)),
      desktops(ShareBegin(index + 1, run.slices(), options.desktops) - first_desktop),
      sockets(options.transport == Transport::kSocket ? desktops.size() : 0),
      endpoints(options.ca),
      random(options.seed * kGolden + index),
      masks(~(options.seed * kGolden + index)) {
  if (epoll < 0) {
    throw std::system_error(errno, std::generic_category(), "epoll_create1");
  }
  for (const std::string& api : options.apis) {
    api_endpoints.push_back(endpoints.IndexOf(api));
  }
  // Relays take turns among the desktops that throw, and among the others. So each relay has the
  // same share of both, whatever the mix and the number of slices.
  MixOrder order(options.mix);
  uint32_t throwers = 0;
  for (uint32_t i = 0; i < first_desktop; ++i) {
    throwers += order.Next() == Behaviour::kThrowing ? 1 : 0;
  }
  for (uint32_t i = 0; i < desktops.size(); ++i) {
    Desktop& desktop = desktops[i];
    desktop.behaviour = order.Next();
    const bool throws = desktop.behaviour == Behaviour::kThrowing;
    const uint32_t nth = throws ? throwers++ : GlobalIndex(i) - throwers;
    SetRelay(i, static_cast<uint8_t>(nth % options.apis.size()));
    desktop.other_relay = desktop.relay;
  }
}

SliceState::~SliceState() { close(epoll); }

bool SliceState::Connect(Connection& connection, uint64_t tag, uint8_t endpoint, uint32_t pick) {
  ++counters.connects;
  int error = EHOSTUNREACH;
  if (endpoint != Endpoints::kUnknown) {
    error = connection.Connect(epoll, tag, endpoints.At(endpoint), options.sources, pick);
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

int SliceState::FinishConnect(Connection& connection, uint32_t events) {
  const int error = connection.FinishConnect(events);
  if (error == EINPROGRESS) {
    return error;
  }
  --connecting;
  if (error == 0) {
    ++counters.connections_open;
    return error;
  }
  ++counters.connects_failed;
  if (error == ECONNREFUSED) {
    ++counters.connects_refused;
  }
  if (error == EPROTO) {
    ++counters.handshakes_failed;
  }
  return error;
}

bool SliceState::Send(Connection& connection, std::string_view bytes) {
  counters.bytes_out += bytes.size();
  return connection.Send(bytes);
}

void SliceState::Close(Connection& connection) {
  if (connection.state() == Connection::State::kConnecting) {
    --connecting;
  } else if (connection.open()) {
    --counters.connections_open;
  }
  connection.Close();
}

void SliceState::AppendPost(const Desktop& desktop, std::string_view route, std::string_view body,
                            std::string* to, std::string_view fields) const {
  to->append("POST /v1/desktops/").append(desktop.id.view()).append(route);
  to->append(" HTTP/1.1\r\nHost: ").append(endpoints.At(desktop.crossings_endpoint).text);
  to->append("\r\nAuthorization: Bearer ").append(desktop.token.view());
  to->append("\r\n").append(fields);
  to->append("Content-Type: application/json\r\nContent-Length: ");
  to->append(std::to_string(body.size())).append("\r\n\r\n").append(body);
}

void SliceState::AppendMessage(uint32_t local, std::string_view text, std::string* to) {
  AppendClientFrame(Opcode::kText, text, static_cast<uint32_t>(masks.Next()), to);
  sockets[local].pace.Count(NowNs());
}

void SliceState::RetryLater(Part part, uint32_t index, uint8_t* tries, uint64_t at_least_ms) {
  const int64_t longest_ms =
      part == Part::kPoll ? PollPauseMsMax(desktops[index].lease_seconds) : kRetryMsMax;
  const int64_t doubled_ms = RetryMs(*tries, longest_ms);
  if (*tries < UINT8_MAX) {
    ++*tries;
  }
  const auto floor_ms = static_cast<int64_t>(std::min(at_least_ms, kRetryAfterMsMax));
  const auto pause_ms = static_cast<double>(std::max(doubled_ms, floor_ms));
  // 0.5 to 1.5 times the pause; 1 to 1.5 times where the relay asked for one.
  const double jittered =
      floor_ms > 0 ? pause_ms * (1 + random.Unit() / 2) : pause_ms * (0.5 + random.Unit());
  ScheduleAt(part, index, NowNs() + static_cast<int64_t>(jittered * kNsPerMs));
}

void SliceState::MoveTo(uint32_t local, std::string_view join) {
  const uint8_t named = endpoints.IndexOf(OriginOf(join));
  if (named == Endpoints::kUnknown) {
    return;
  }
  for (size_t relay = 0; relay < api_endpoints.size(); ++relay) {
    const uint8_t api = api_endpoints[relay];
    if (api != Endpoints::kUnknown && endpoints.At(api).text == endpoints.At(named).text) {
      desktops[local].other_relay = desktops[local].relay;
      SetRelay(local, static_cast<uint8_t>(relay));
      return;
    }
  }
}

void SliceState::MoveBack(uint32_t local) {
  Desktop& desktop = desktops[local];
  const uint8_t before = desktop.relay;
  SetRelay(local, desktop.other_relay);
  desktop.other_relay = before;
}

void SliceState::SetRelay(uint32_t local, uint8_t relay) {
  desktops[local].relay = relay;
  run.exits(GlobalIndex(local)).relay.store(relay, std::memory_order_relaxed);
}

bool SliceState::PopDue(int64_t now_ns, Part* part, uint32_t* index) {
  if (calendar_.empty() || calendar_.top().when_ns > now_ns) {
    return false;
  }
  *part = calendar_.top().part;
  *index = calendar_.top().index;
  calendar_.pop();
  return true;
}

}  // namespace swarm
