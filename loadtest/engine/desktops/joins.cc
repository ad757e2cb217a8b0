#include "desktops/joins.h"

#include <algorithm>
#include <utility>

#include "net/json_reader.h"

namespace swarm {
namespace {

uint16_t ReadLease(JsonReader& json) {
  const char first = json.Peek();
  double said = kLeaseSeconds;
  if (first == '-' || (first >= '0' && first <= '9')) {
    json.Number(&said);
  } else {
    json.Skip();
  }
  return LeaseSecondsOf(said);
}

}  // namespace

void Joins::Turn(int64_t now_ns) {
  if (!leaving_) {
    queue_.insert(queue_.end(), slice_.joining.begin(), slice_.joining.end());
  }
  slice_.joining.clear();
  uint32_t desktop = kNoDesktop;
  while (slice_.connecting < kConnectingMax && IdleFor(Endpoints::kUnknown) < kJoinConnections &&
         PopNext(now_ns, &desktop)) {
    const uint32_t index = IdleFor(slice_.ApiEndpoint(desktop));
    joiners_[index].desktop = desktop;
    BeginRequest(index, now_ns);
  }
}

uint32_t Joins::IdleFor(uint8_t endpoint) const {
  uint32_t best = kJoinConnections;
  int best_rank = -1;
  for (uint32_t i = 0; i < kJoinConnections; ++i) {
    const Joiner& joiner = joiners_[i];
    const bool is_closed = joiner.connection.state() == Connection::State::kClosed;
    const int rank = is_closed ? 1 : joiner.endpoint == endpoint ? 2 : 0;
    if (joiner.desktop == kNoDesktop && rank > best_rank) {
      best = i;
      best_rank = rank;
    }
  }
  return best;
}

int64_t Joins::DueNs(uint64_t nth) const {
  const double rate = slice_.options.connect_rate / slice_.run.slices();
  const uint64_t batch = std::max<uint64_t>(1, slice_.options.connect_batch / slice_.run.slices());
  nth -= nth % batch;  // the desktops of a batch are due together
  return slice_.started_ns + static_cast<int64_t>(static_cast<double>(nth) * kNsPerSecond / rate);
}

int64_t Joins::NextDue() const {
  if (leaving_ || next_fresh_ == slice_.desktops.size()) {
    return INT64_MAX;
  }
  // While others are connecting, or all joiners are busy, an event will come.
  if (slice_.connecting >= kConnectingMax) {
    return INT64_MAX;
  }
  const bool idle = std::any_of(joiners_.begin(), joiners_.end(),
                                [](const Joiner& joiner) { return joiner.desktop == kNoDesktop; });
  return idle ? DueNs(next_fresh_) : INT64_MAX;
}

bool Joins::PopNext(int64_t now_ns, uint32_t* desktop) {
  if (!queue_.empty()) {
    *desktop = queue_.front();
    queue_.pop_front();
    return true;
  }
  if (leaving_ || next_fresh_ == slice_.desktops.size() || DueNs(next_fresh_) > now_ns) {
    return false;
  }
  *desktop = next_fresh_++;
  SkipHostile();
  return true;
}

void Joins::SkipHostile() {
  while (next_fresh_ < slice_.desktops.size() &&
         slice_.desktops[next_fresh_].behaviour == Behaviour::kHostile) {
    ++next_fresh_;
  }
}

void Joins::BeginRequest(uint32_t index, int64_t now_ns) {
  Joiner& joiner = joiners_[index];
  joiner.since_ns = now_ns;
  joiner.request_sent = false;
  const uint8_t endpoint = slice_.ApiEndpoint(joiner.desktop);
  if (joiner.endpoint != endpoint) {
    slice_.Close(joiner.connection);
    joiner.endpoint = endpoint;
  }
  if (joiner.connection.open()) {
    SendRequest(index);
  } else if (!slice_.Connect(joiner.connection, TagOf(Part::kJoiner, index), endpoint, index)) {
    Fail(index);
  }
}

void Joins::OnOpen(uint32_t index) {
  if (joiners_[index].desktop != kNoDesktop) {
    SendRequest(index);
  }
}

void Joins::SendRequest(uint32_t index) {
  Joiner& joiner = joiners_[index];
  const Desktop& desktop = slice_.desktops[joiner.desktop];
  const std::string& host = slice_.endpoints.At(joiner.endpoint).text;
  std::string& request = slice_.request;
  joiner.leaving = leaving_ || desktop.state == Desktop::State::kLeaving;
  if (joiner.leaving) {
    request.assign("DELETE /v1/desktops/");
    request.append(desktop.id.view());
    request.append(" HTTP/1.1\r\nHost: ").append(host);
    request.append("\r\nAuthorization: Bearer ");
    request.append(desktop.token.view());
    request.append("\r\n\r\n");
  } else {
    std::string body = "{";
    if (slice_.options.pictures.empty()) {
      body += "\"name\":\"" + slice_.options.name + "-" +
              std::to_string(slice_.GlobalIndex(joiner.desktop)) + "\",";
    }
    if (!slice_.options.world.empty()) {
      body += "\"world\":\"" + slice_.options.world + "\",";
    }
    if (CountIn(slice_.options.mix, Behaviour::kPeeking) > 0) {
      body += "\"stage\":true,";
    }
    body += "\"screen\":{\"width\":1920,\"height\":1080}}";
    request.assign("POST /v1/desktops HTTP/1.1\r\nHost: ").append(host);
    request.append("\r\nUser-Agent: Sprites/" SWARM_VERSION
                   " (swarm)\r\nContent-Type: application/json\r\nContent-Length: ");
    request.append(std::to_string(body.size())).append("\r\n\r\n").append(body);
    ++slice_.counters.joins_sent;
  }
  joiner.request_sent = true;
  if (!slice_.Send(joiner.connection, request)) {
    OnBroken(index);
  }
}

void Joins::OnResponse(uint32_t index, const HttpResponse& response) {
  Joiner& joiner = joiners_[index];
  Counters& counters = slice_.counters;
  if (!joiner.request_sent) {  // a response without a request
    if (!MayCloseIdle(response)) {
      ++counters.answers_bad;
    }
    OnBroken(index);
    return;
  }
  const uint32_t desktop_index = joiner.desktop;
  Desktop& desktop = slice_.desktops[desktop_index];
  joiner.desktop = kNoDesktop;
  joiner.request_sent = false;
  if (!response.keep_alive) {
    slice_.Close(joiner.connection);
  }
  if (joiner.leaving) {
    OnLeaveResponse(desktop_index, response);
    return;
  }
  if (response.status != 201) {
    const Problem problem = ReadProblem(response);
    ++counters.joins_refused;
    ++counters.other_refused_by_code[ProblemIndex(problem.code)];
    slice_.MoveBack(desktop_index);
    slice_.RetryLater(Part::kJoiner, desktop_index, &desktop.tries, problem.retry_after_ms);
    return;
  }
  const uint8_t endpoint_before = desktop.events_endpoint;
  if (!ReadJoin(desktop_index, response)) {
    ++counters.answers_bad;
    ++counters.joins_failed;
    slice_.RetryLater(Part::kJoiner, desktop_index, &desktop.tries);
    return;
  }
  ++counters.joins_accepted;
  ++counters.joined;
  desktop.state = Desktop::State::kJoined;
  desktop.tries = 0;
  desktop.has_seq = false;
  desktop.is_watched = false;
  desktop.crossing = 0;
  ++desktop.identity;
  if (desktop.events_endpoint != endpoint_before) {
    polls_.Drop(desktop_index);  // its connection is to another relay
  }
  slice_.run.fingerprint(slice_.GlobalIndex(desktop_index))
      .store(FingerprintOf(desktop.id.view()), std::memory_order_relaxed);
  polls_.Start(desktop_index);
}

void Joins::OnLeaveResponse(uint32_t desktop_index, const HttpResponse& response) {
  Desktop& desktop = slice_.desktops[desktop_index];
  Counters& counters = slice_.counters;
  // 401, 410: the desktop is unknown or ended, so the response to an earlier leave was lost.
  const bool left = response.status == 204 || response.status == 401 || response.status == 410;
  ++(left ? counters.leaves : counters.leaves_failed);
  if (leaving_) {
    counters.joined -= left ? 1 : 0;
    desktop.state = Desktop::State::kLeft;
    return;
  }
  if (!left) {
    slice_.RetryLater(Part::kJoiner, desktop_index, &desktop.tries,
                      ReadProblem(response).retry_after_ms);
    return;
  }
  --counters.joined;
  polls_.Drop(desktop_index);
  desktop.state = Desktop::State::kOutside;
  desktop.tries = 0;
  queue_.push_back(desktop_index);
}

bool Joins::ReadJoin(uint32_t index, const HttpResponse& response) {
  Desktop& desktop = slice_.desktops[index];
  std::string_view id;
  std::string_view token;
  std::string_view cursor;
  std::string_view events;
  std::string_view crossings;
  std::string_view socket;
  std::string_view key;
  desktop.lease_seconds = kLeaseSeconds;
  JsonReader json(response.body);
  if (!json.EnterObject()) {
    return false;
  }
  while (json.NextMember(&key)) {
    if (key == "desktop") {
      json.String(&id);
    } else if (key == "token") {
      json.String(&token);
    } else if (key == "cursor") {
      json.String(&cursor);
    } else if (key == "events") {
      json.String(&events);
    } else if (key == "crossings") {
      json.String(&crossings);
    } else if (key == "socket") {
      json.String(&socket);
    } else if (key == "leaseSeconds") {
      desktop.lease_seconds = ReadLease(json);
    } else {
      json.Skip();
    }
  }
  if (!json.ok() || id.empty() || token.empty()) {
    return false;
  }
  if (!desktop.id.Assign(id) || !desktop.token.Assign(token) || !desktop.cursor.Assign(cursor)) {
    return false;
  }
  const Options& options = slice_.options;
  if (options.transport == Transport::kSocket) {
    desktop.events_endpoint = slice_.endpoints.IndexOf(
        options.socket.empty() ? OriginOf(socket) : std::string_view(options.socket));
    desktop.crossings_endpoint = desktop.events_endpoint;
    return desktop.events_endpoint != Endpoints::kUnknown;
  }
  desktop.events_endpoint = slice_.endpoints.IndexOf(
      options.events.empty() ? OriginOf(events) : std::string_view(options.events));
  desktop.crossings_endpoint = slice_.endpoints.IndexOf(
      options.crossings.empty() ? OriginOf(crossings) : std::string_view(options.crossings));
  return desktop.events_endpoint != Endpoints::kUnknown &&
         desktop.crossings_endpoint != Endpoints::kUnknown;
}

void Joins::OnBroken(uint32_t index) {
  Joiner& joiner = joiners_[index];
  // A relay may close an idle connection: that is not a cut.
  if (joiner.desktop != kNoDesktop) {
    ++slice_.counters.cuts;
  }
  slice_.Close(joiner.connection);
  if (joiner.desktop != kNoDesktop) {
    Fail(index);
  }
}

void Joins::Fail(uint32_t index) {
  Joiner& joiner = joiners_[index];
  const uint32_t desktop_index = std::exchange(joiner.desktop, kNoDesktop);
  if (desktop_index == kNoDesktop) {
    return;
  }
  joiner.request_sent = false;
  const bool leaves = leaving_ || slice_.desktops[desktop_index].state == Desktop::State::kLeaving;
  ++(leaves ? slice_.counters.leaves_failed : slice_.counters.joins_failed);
  if (!leaves) {
    slice_.MoveBack(desktop_index);
  }
  if (!leaving_) {
    slice_.RetryLater(Part::kJoiner, desktop_index, &slice_.desktops[desktop_index].tries);
  }
}

void Joins::BeginLeaving() {
  leaving_ = true;
  queue_.clear();
  for (Joiner& joiner : joiners_) {
    slice_.Close(joiner.connection);
    joiner.desktop = kNoDesktop;
    joiner.request_sent = false;
  }
  for (uint32_t i = 0; i < slice_.desktops.size(); ++i) {
    const Desktop::State state = slice_.desktops[i].state;
    if (state == Desktop::State::kJoined || state == Desktop::State::kLeaving) {
      queue_.push_back(i);
    }
  }
}

void Joins::Sweep(int64_t now_ns) {
  for (uint32_t i = 0; i < kJoinConnections; ++i) {
    if (joiners_[i].desktop != kNoDesktop && now_ns - joiners_[i].since_ns > kResponseTimeoutNs) {
      OnBroken(i);
    }
  }
}

}  // namespace swarm
