#include "joins.h"

#include <algorithm>
#include <utility>

#include "json_reader.h"

namespace swarm {

void Joins::Turn(int64_t now_ns) {
  while (!stage_.rejoin.empty()) {
    if (!leaving_) {
      queue_.push_back(stage_.rejoin.front());
    }
    stage_.rejoin.pop_front();
  }
  while (!stage_.leaving.empty()) {
    if (!leaving_) {
      queue_.push_back(stage_.leaving.front());
    }
    stage_.leaving.pop_front();
  }
  for (uint32_t i = 0; i < kJoiners; ++i) {
    if (joiners_[i].desktop != kNobody) {
      continue;
    }
    if (stage_.connecting >= kConnectingMax || !TakeNext(now_ns, &joiners_[i].desktop)) {
      return;
    }
    Serve(i, now_ns);
  }
}

int64_t Joins::DueOf(uint64_t nth) const {
  const double rate = stage_.options.connect_rate / stage_.run.slices();
  const uint64_t batch = std::max<uint64_t>(1, stage_.options.connect_batch / stage_.run.slices());
  nth -= nth % batch;  // all of a batch are due with its first
  return stage_.started_ns + static_cast<int64_t>(static_cast<double>(nth) * kNsPerSecond / rate);
}

bool Joins::ReachedRate(int64_t now_ns) const { return DueOf(next_fresh_) > now_ns; }

int64_t Joins::NextDue() const {
  if (leaving_ || next_fresh_ == stage_.desktops.size()) {
    return INT64_MAX;
  }
  // While others connect, or all joiners are at work, an event will come.
  if (stage_.connecting >= kConnectingMax) {
    return INT64_MAX;
  }
  const bool idle = std::any_of(joiners_.begin(), joiners_.end(),
                                [](const Joiner& joiner) { return joiner.desktop == kNobody; });
  return idle ? DueOf(next_fresh_) : INT64_MAX;
}

bool Joins::TakeNext(int64_t now_ns, uint32_t* desktop) {
  if (!queue_.empty()) {
    *desktop = queue_.front();
    queue_.pop_front();
    return true;
  }
  if (leaving_ || next_fresh_ == stage_.desktops.size() || ReachedRate(now_ns)) {
    return false;
  }
  *desktop = next_fresh_++;
  SkipHostile();
  return true;
}

void Joins::SkipHostile() {
  while (next_fresh_ < stage_.desktops.size() &&
         stage_.desktops[next_fresh_].behaviour == Behaviour::kHostile) {
    ++next_fresh_;
  }
}

void Joins::Serve(uint32_t index, int64_t now_ns) {
  Joiner& joiner = joiners_[index];
  joiner.since_ns = now_ns;
  joiner.asked = false;
  if (joiner.connection.open()) {
    Ask(index);
  } else if (!stage_.Begin(joiner.connection, TagOf(Part::kJoiner, index), stage_.api_endpoint,
                           index)) {
    Failed(index);
  }
}

void Joins::OnEvent(uint32_t index, uint32_t events) {
  struct Owner {
    Joins& joins;
    uint32_t index;
    void OnOpen() {
      if (joins.joiners_[index].desktop != kNobody) {
        joins.Ask(index);
      }
    }
    void OnNotOpened() { joins.Failed(index); }
    void OnAnswer(const HttpResponse& response) { joins.OnAnswer(index, response); }
    void OnBroken() { joins.Break(index); }
  };
  stage_.Serve(joiners_[index].connection, events, Owner{*this, index});
}

void Joins::Ask(uint32_t index) {
  Joiner& joiner = joiners_[index];
  const Desktop& desktop = stage_.desktops[joiner.desktop];
  const std::string& host = stage_.endpoints.At(stage_.api_endpoint).text;
  std::string& request = stage_.request;
  joiner.leaving = leaving_ || desktop.state == Desktop::State::kLeaving;
  if (joiner.leaving) {
    request.assign("DELETE /v1/desktops/");
    request.append(desktop.id.view());
    request.append(" HTTP/1.1\r\nHost: ").append(host);
    request.append("\r\nAuthorization: Bearer ");
    request.append(desktop.token.view());
    request.append("\r\n\r\n");
  } else {
    std::string body = "{\"name\":\"" + stage_.options.name + "-" +
                       std::to_string(stage_.GlobalIndex(joiner.desktop)) + "\",";
    if (!stage_.options.world.empty()) {
      body += "\"world\":\"" + stage_.options.world + "\",";
    }
    body += "\"screen\":{\"width\":1920,\"height\":1080}}";
    request.assign("POST /v1/desktops HTTP/1.1\r\nHost: ").append(host);
    request.append("\r\nContent-Type: application/json\r\nContent-Length: ");
    request.append(std::to_string(body.size())).append("\r\n\r\n").append(body);
    ++stage_.counters.joins_sent;
  }
  joiner.asked = true;
  if (!stage_.Send(joiner.connection, request)) {
    Break(index);
  }
}

void Joins::OnAnswer(uint32_t index, const HttpResponse& response) {
  Joiner& joiner = joiners_[index];
  Counters& counters = stage_.counters;
  if (!joiner.asked) {  // an answer to nothing
    if (!ClosesIdle(response)) {
      ++counters.answers_bad;
    }
    Break(index);
    return;
  }
  const uint32_t who = joiner.desktop;
  Desktop& desktop = stage_.desktops[who];
  joiner.desktop = kNobody;
  joiner.asked = false;
  if (!response.keep_alive) {
    stage_.Close(joiner.connection);
  }
  if (joiner.leaving) {
    OnLeft(who, response);
    return;
  }
  if (response.status != 201) {
    const Problem problem = ReadProblem(response);
    ++counters.joins_refused;
    ++counters.other_refused_by_code[ProblemIndex(problem.code)];
    stage_.TryLater(Part::kJoiner, who, &desktop.tries, problem.retry_after_ms);
    return;
  }
  if (!Seat(who, response)) {
    ++counters.answers_bad;
    ++counters.joins_failed;
    stage_.TryLater(Part::kJoiner, who, &desktop.tries);
    return;
  }
  ++counters.joins_accepted;
  ++counters.joined;
  desktop.state = Desktop::State::kJoined;
  desktop.tries = 0;
  desktop.has_seq = false;
  desktop.crossing = 0;
  stage_.run.fingerprint(stage_.GlobalIndex(who))
      .store(FingerprintOf(desktop.id.view()), std::memory_order_relaxed);
  polls_.Start(who);
}

void Joins::OnLeft(uint32_t who, const HttpResponse& response) {
  Desktop& desktop = stage_.desktops[who];
  Counters& counters = stage_.counters;
  // Unknown, or ended: an earlier answer was lost on its way.
  const bool left = response.status == 204 || response.status == 401 || response.status == 410;
  ++(left ? counters.leaves : counters.leaves_failed);
  if (leaving_) {
    counters.joined -= left ? 1 : 0;
    desktop.state = Desktop::State::kLeft;
    return;
  }
  if (!left) {
    stage_.TryLater(Part::kJoiner, who, &desktop.tries, ReadProblem(response).retry_after_ms);
    return;
  }
  --counters.joined;
  polls_.Drop(who);
  desktop.state = Desktop::State::kOutside;
  desktop.tries = 0;
  queue_.push_back(who);
}

bool Joins::Seat(uint32_t index, const HttpResponse& response) {
  Desktop& desktop = stage_.desktops[index];
  std::string_view id;
  std::string_view token;
  std::string_view cursor;
  std::string_view events;
  std::string_view crossings;
  std::string_view key;
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
  const Options& options = stage_.options;
  desktop.events_endpoint = stage_.endpoints.IndexOf(
      options.events.empty() ? AuthorityOf(events) : std::string_view(options.events));
  desktop.crossings_endpoint = stage_.endpoints.IndexOf(
      options.crossings.empty() ? AuthorityOf(crossings) : std::string_view(options.crossings));
  return desktop.events_endpoint != Endpoints::kUnknown &&
         desktop.crossings_endpoint != Endpoints::kUnknown;
}

void Joins::Break(uint32_t index) {
  Joiner& joiner = joiners_[index];
  // A relay may close a connection nobody uses.
  if (joiner.desktop != kNobody) {
    ++stage_.counters.cuts;
  }
  stage_.Close(joiner.connection);
  if (joiner.desktop != kNobody) {
    Failed(index);
  }
}

void Joins::Failed(uint32_t index) {
  Joiner& joiner = joiners_[index];
  const uint32_t who = std::exchange(joiner.desktop, kNobody);
  if (who == kNobody) {
    return;
  }
  joiner.asked = false;
  const bool leaves = leaving_ || stage_.desktops[who].state == Desktop::State::kLeaving;
  ++(leaves ? stage_.counters.leaves_failed : stage_.counters.joins_failed);
  if (!leaving_) {
    stage_.TryLater(Part::kJoiner, who, &stage_.desktops[who].tries);
  }
}

void Joins::BeginLeaving() {
  leaving_ = true;
  queue_.clear();
  for (Joiner& joiner : joiners_) {
    stage_.Close(joiner.connection);
    joiner.desktop = kNobody;
    joiner.asked = false;
  }
  for (uint32_t i = 0; i < stage_.desktops.size(); ++i) {
    const Desktop::State state = stage_.desktops[i].state;
    if (state == Desktop::State::kJoined || state == Desktop::State::kLeaving) {
      queue_.push_back(i);
    }
  }
}

void Joins::Sweep(int64_t now_ns) {
  for (uint32_t i = 0; i < kJoiners; ++i) {
    if (joiners_[i].desktop != kNobody && now_ns - joiners_[i].since_ns > kAnswerTimeoutNs) {
      Break(i);
    }
  }
}

}  // namespace swarm
