#include "polls.h"

#include <algorithm>
#include <utility>

#include "json_reader.h"

namespace swarm {
namespace {

constexpr uint32_t kSweeps = 8;  // calls until every poll has been looked at
// A poll that has been out for so long was read by the relay, and its cursor with it. A relay
// slower than that counts the last sprites of who leaves twice: once here, once where they went on
// to.
constexpr int64_t kQuietMs = 2'000;

struct Answer {
  std::string_view cursor;
  uint64_t sprites = 0;
  bool ping = false;
  bool bye = false;
  uint64_t retry_after_ms = 0;
};

void ReadSprite(JsonReader& json, SpriteEvent* event) {
  std::string_view key;
  if (!json.EnterObject()) {
    return;
  }
  while (json.NextMember(&key)) {
    if (key == "name") {
      json.String(&event->name);
    } else {
      json.Skip();
    }
  }
}

void ReadFrom(JsonReader& json, SpriteEvent* event) {
  std::string_view key;
  if (!json.EnterObject()) {
    return;
  }
  while (json.NextMember(&key)) {
    if (key == "desktop") {
      json.String(&event->from);
    } else {
      json.Skip();
    }
  }
}

void ReadEvent(JsonReader& json, std::string_view* type, SpriteEvent* event,
               uint64_t* retry_after_ms) {
  std::string_view key;
  if (!json.EnterObject()) {
    return;
  }
  while (json.NextMember(&key)) {
    if (key == "type") {
      json.String(type);
    } else if (key == "seq") {
      json.Unsigned(&event->seq);
    } else if (key == "edge") {
      json.String(&event->edge);
    } else if (key == "from") {
      ReadFrom(json, event);
    } else if (key == "sprite") {
      ReadSprite(json, event);
    } else if (key == "retryAfterMs") {
      json.Unsigned(retry_after_ms);
    } else {
      json.Skip();
    }
  }
}

}  // namespace

void Polls::Start(uint32_t index) {
  Desktop& desktop = stage_.desktops[index];
  if (desktop.state != Desktop::State::kJoined) {
    return;
  }
  if (desktop.poll.open()) {
    if (!desktop.poll_held) {
      Ask(index);
    }
    return;
  }
  if (desktop.poll.state() == Connection::State::kConnecting) {
    return;
  }
  if (!stage_.Begin(desktop.poll, TagOf(Part::kPoll, index), desktop.events_endpoint,
                    stage_.GlobalIndex(index))) {
    stage_.TryLater(Part::kPoll, index, &desktop.tries);
  }
}

void Polls::OnEvent(uint32_t index, uint32_t events) {
  Desktop& desktop = stage_.desktops[index];
  const bool input = (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  if (desktop.behaviour == Behaviour::kSlow && desktop.poll.open() && input) {
    if (!desktop.reads_later) {
      desktop.reads_later = true;
      const auto late_ns = static_cast<int64_t>(stage_.options.read_late_s * kNsPerSecond);
      stage_.TryAt(Part::kLateRead, index, NowNs() + late_ns);
    }
    return;
  }
  Serve(index, events);
}

void Polls::ReadLate(uint32_t index) {
  stage_.desktops[index].reads_later = false;
  Serve(index, EPOLLIN | EPOLLOUT);
}

void Polls::Serve(uint32_t index, uint32_t events) {
  struct Owner {
    Polls& polls;
    uint32_t index;
    void OnOpen() { polls.Ask(index); }
    void OnNotOpened() {
      polls.stage_.TryLater(Part::kPoll, index, &polls.stage_.desktops[index].tries);
    }
    void OnAnswer(const HttpResponse& response) { polls.OnAnswer(index, response); }
    void OnBroken() { polls.Break(index); }
  };
  stage_.Serve(stage_.desktops[index].poll, events, Owner{*this, index});
}

void Polls::Reconnect(uint32_t index) {
  if (stage_.desktops[index].state != Desktop::State::kJoined) {
    return;
  }
  ++stage_.counters.reconnects;
  Drop(index);
  stage_.polling.push_back(index);
}

void Polls::Drop(uint32_t index) {
  Desktop& desktop = stage_.desktops[index];
  if (desktop.poll_held) {
    Unhold(desktop);
    ++stage_.counters.polls_dropped;
  }
  stage_.Close(desktop.poll);
}

int64_t Polls::GoAway(uint32_t index, int64_t now_ns, int64_t every_ns) {
  Desktop& desktop = stage_.desktops[index];
  if (desktop.state != Desktop::State::kJoined) {
    return every_ns;
  }
  const int64_t held_ms = stage_.MsSinceStart(now_ns) - int64_t{desktop.poll_sent_ms};
  if (desktop.poll_held && held_ms >= kQuietMs) {
    BeginLeaving(index);
    return every_ns;
  }
  desktop.wants_away = true;
  return (desktop.poll_held ? kQuietMs - held_ms : kQuietMs) * kNsPerMs;
}

void Polls::BeginLeaving(uint32_t index) {
  Desktop& desktop = stage_.desktops[index];
  desktop.wants_away = false;
  desktop.state = Desktop::State::kLeaving;
  // Before the relay is told: from then on what waits here may turn up elsewhere.
  stage_.departed.Mark(FingerprintOf(desktop.id.view()));
  stage_.leaving.push_back(index);
}

void Polls::Ask(uint32_t index) {
  Desktop& desktop = stage_.desktops[index];
  std::string& request = stage_.request;
  request.assign("GET /v1/desktops/");
  request.append(desktop.id.view());
  request.append("/events");
  if (!desktop.cursor.empty()) {
    request.append("?cursor=");
    request.append(desktop.cursor.view());
  }
  request.append(" HTTP/1.1\r\nHost: ");
  request.append(stage_.endpoints.At(desktop.events_endpoint).text);
  request.append("\r\nAuthorization: Bearer ");
  request.append(desktop.token.view());
  request.append("\r\n\r\n");
  desktop.poll_held = true;
  desktop.poll_sent_ms = stage_.MsSinceStart(NowNs());
  ++stage_.counters.polls_sent;
  ++stage_.counters.polls_held;
  if (!stage_.Send(desktop.poll, request)) {
    Break(index);
    return;
  }
  if (!desktop.ever_parked) {
    desktop.ever_parked = true;
    if (desktop.sender != kNoSender) {
      stage_.ready_senders.push_back(desktop.sender);
    }
  }
}

void Polls::OnAnswer(uint32_t index, const HttpResponse& response) {
  Desktop& desktop = stage_.desktops[index];
  if (!desktop.poll_held) {  // an answer to nothing
    if (!ClosesIdle(response)) {
      ++stage_.counters.answers_bad;
    }
    Break(index);
    return;
  }
  Unhold(desktop);
  ++stage_.counters.polls_answered;
  if (desktop.state == Desktop::State::kLeaving) {
    return;  // what came is not acknowledged any more, and goes on to the next desktop
  }
  if (response.status == 200 && desktop.wants_away && stage_.phase == Phase::kThrow) {
    BeginLeaving(index);
  } else if (response.status == 200) {
    if (!OnEvents(index, response)) {
      ++stage_.counters.answers_bad;
      Break(index);
      return;
    }
  } else {
    OnRefused(index, response);
  }
  if (!response.keep_alive) {
    stage_.Close(desktop.poll);
  }
}

bool Polls::OnEvents(uint32_t index, const HttpResponse& response) {
  Desktop& desktop = stage_.desktops[index];
  const int64_t now_ns = NowNs();
  Answer answer;
  JsonReader json(response.body);
  std::string_view key;
  if (!json.EnterObject()) {
    return false;
  }
  while (json.NextMember(&key)) {
    if (key == "cursor") {
      json.String(&answer.cursor);
    } else if (key == "events") {
      if (!json.EnterArray()) {
        return false;
      }
      while (json.NextElement()) {
        std::string_view type;
        SpriteEvent event;
        ReadEvent(json, &type, &event, &answer.retry_after_ms);
        if (!json.ok()) {
          break;
        }
        if (type == "sprite") {
          ++answer.sprites;
          catches_.Catch(desktop, index, event, now_ns);
        } else if (type == "ping") {
          answer.ping = true;
        } else if (type == "bye") {
          answer.bye = true;
        }
      }
    } else {
      json.Skip();
    }
  }
  if (!json.ok() || answer.cursor.empty() || !desktop.cursor.Assign(answer.cursor)) {
    return false;
  }
  desktop.tries = 0;
  Counters& counters = stage_.counters;
  if (answer.sprites > 0) {
    ++counters.polls_with_sprites;
  } else if (answer.ping) {
    ++counters.polls_with_ping;
  } else {
    ++counters.polls_empty;
  }
  if (answer.bye) {
    ++counters.byes;
    stage_.TryLater(Part::kPoll, index, &desktop.tries, answer.retry_after_ms);
  } else if (response.keep_alive) {
    Ask(index);
  } else {
    stage_.polling.push_back(index);
  }
  return true;
}

void Polls::OnRefused(uint32_t index, const HttpResponse& response) {
  Desktop& desktop = stage_.desktops[index];
  Counters& counters = stage_.counters;
  const Problem problem = ReadProblem(response);
  ++counters.polls_refused;
  ++counters.other_refused_by_code[ProblemIndex(problem.code)];
  if (response.status == 401 || (response.status == 410 && problem.code != "cursor-lost")) {
    ++counters.desktops_ended;
    --counters.joined;
    desktop.state = Desktop::State::kOutside;
    desktop.wants_away = false;
    stage_.departed.Mark(FingerprintOf(desktop.id.view()));
    stage_.rejoin.push_back(index);
    return;
  }
  if (problem.code == "cursor-lost" && !problem.cursor.empty() &&
      desktop.cursor.Assign(problem.cursor)) {
    ++counters.cursors_lost;
    desktop.has_seq = false;
  }
  stage_.TryLater(Part::kPoll, index, &desktop.tries, problem.retry_after_ms);
}

void Polls::Break(uint32_t index) {
  Desktop& desktop = stage_.desktops[index];
  if (desktop.poll.open()) {
    ++stage_.counters.cuts;
  }
  if (desktop.poll_held) {
    Unhold(desktop);
    ++stage_.counters.polls_cut;
  }
  stage_.Close(desktop.poll);
  if (desktop.state == Desktop::State::kJoined) {
    stage_.TryLater(Part::kPoll, index, &desktop.tries);
  }
}

void Polls::Unhold(Desktop& desktop) {
  desktop.poll_held = false;
  --stage_.counters.polls_held;
}

void Polls::Sweep(int64_t now_ns) {
  const auto count = static_cast<uint32_t>(stage_.desktops.size());
  const uint32_t now_ms = stage_.MsSinceStart(now_ns);
  const auto overdue_ms = static_cast<uint32_t>(stage_.options.poll_overdue_s * 1000);
  for (uint32_t i = FirstOf(sweep_, kSweeps, count); i < FirstOf(sweep_ + 1, kSweeps, count); ++i) {
    const Desktop& desktop = stage_.desktops[i];
    if (desktop.poll_held && now_ms - desktop.poll_sent_ms > overdue_ms) {
      ++overdue_so_far_;
    }
  }
  if (++sweep_ == kSweeps) {
    sweep_ = 0;
    stage_.counters.polls_overdue = std::exchange(overdue_so_far_, 0);
  }
}

}  // namespace swarm
