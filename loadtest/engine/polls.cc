#include "polls.h"

#include <utility>

#include "json_reader.h"

namespace swarm {
namespace {

constexpr uint32_t kSweeps = 8;  // calls of Sweep that look at every poll once
// The relay has surely read a poll that has been out for so long, with its cursor. With a slower
// relay the last sprites of a desktop that leaves are counted twice: here, and where they went.
constexpr int64_t kQuietMs = 2'000;

// What an answered poll brought; views of the response.
struct Batch {
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
    } else if (key == "file") {
      json.String(&event->flight.file);
    } else if (key == "animation") {
      json.String(&event->flight.animation);
    } else if (key == "facing") {
      json.String(&event->flight.facing);
    } else if (key == "scale") {
      json.Number(&event->flight.scale);
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
    } else if (key == "at") {
      json.Number(&event->flight.at);
    } else if (key == "vx") {
      json.Number(&event->flight.vx);
    } else if (key == "vy") {
      json.Number(&event->flight.vy);
    } else if (key == "retryAfterMs") {
      json.Unsigned(retry_after_ms);
    } else {
      json.Skip();
    }
  }
}

}  // namespace

void Polls::Start(uint32_t index) {
  Desktop& desktop = slice_.desktops[index];
  if (desktop.state != Desktop::State::kJoined) {
    return;
  }
  if (desktop.poll.open()) {
    if (!desktop.poll_held) {
      SendPoll(index);
    }
    return;
  }
  if (desktop.poll.state() == Connection::State::kConnecting) {
    return;
  }
  if (!slice_.Connect(desktop.poll, TagOf(Part::kPoll, index), desktop.events_endpoint,
                      slice_.GlobalIndex(index))) {
    slice_.RetryLater(Part::kPoll, index, &desktop.tries);
  }
}

void Polls::OnEvent(uint32_t index, uint32_t events) {
  Desktop& desktop = slice_.desktops[index];
  const bool input = (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  if (desktop.behaviour == Behaviour::kSlow && desktop.poll.open() && input) {
    if (!desktop.read_scheduled) {
      desktop.read_scheduled = true;
      ++slice_.counters.reads_due;
      const auto late_ns = static_cast<int64_t>(slice_.options.read_late_s * kNsPerSecond);
      slice_.ScheduleAt(Part::kLateRead, index, NowNs() + late_ns);
    }
    return;
  }
  slice_.HandleEvent(desktop.poll, events, *this, index);
}

void Polls::ReadLate(uint32_t index) {
  slice_.desktops[index].read_scheduled = false;
  --slice_.counters.reads_due;
  // The events were reported long ago. With EPOLLRDHUP it reads until the socket is empty.
  slice_.HandleEvent(slice_.desktops[index].poll, EPOLLIN | EPOLLOUT | EPOLLRDHUP, *this, index);
}

void Polls::Reconnect(uint32_t index) {
  if (slice_.desktops[index].state != Desktop::State::kJoined) {
    return;
  }
  ++slice_.counters.reconnects;
  Drop(index);
  slice_.polling.push_back(index);
}

void Polls::Drop(uint32_t index) {
  Desktop& desktop = slice_.desktops[index];
  if (desktop.poll_held) {
    EndPoll(desktop);
    ++slice_.counters.polls_dropped;
  }
  slice_.Close(desktop.poll);
}

int64_t Polls::TryLeave(uint32_t index, int64_t now_ns, int64_t every_ns) {
  Desktop& desktop = slice_.desktops[index];
  if (desktop.state != Desktop::State::kJoined) {
    return every_ns;
  }
  const int64_t held_ms = slice_.MsSinceStart(now_ns) - int64_t{desktop.poll_sent_ms};
  if (desktop.poll_held && held_ms >= kQuietMs) {
    BeginLeaving(index);
    return every_ns;
  }
  desktop.wants_to_leave = true;
  return (desktop.poll_held ? kQuietMs - held_ms : kQuietMs) * kNsPerMs;
}

void Polls::BeginLeaving(uint32_t index) {
  Desktop& desktop = slice_.desktops[index];
  desktop.wants_to_leave = false;
  desktop.state = Desktop::State::kLeaving;
  // Before the request to leave is sent: from then on, what waits for this desktop may be delivered
  // to another.
  slice_.departed.Mark(FingerprintOf(desktop.id.view()));
  slice_.leaving.push_back(index);
}

void Polls::SendPoll(uint32_t index) {
  Desktop& desktop = slice_.desktops[index];
  std::string& request = slice_.request;
  request.assign("GET /v1/desktops/");
  request.append(desktop.id.view());
  request.append("/events");
  if (!desktop.cursor.empty()) {
    request.append("?cursor=");
    request.append(desktop.cursor.view());
  }
  request.append(" HTTP/1.1\r\nHost: ");
  request.append(slice_.endpoints.At(desktop.events_endpoint).text);
  request.append("\r\nAuthorization: Bearer ");
  request.append(desktop.token.view());
  request.append("\r\n\r\n");
  desktop.poll_held = true;
  desktop.poll_sent_ms = slice_.MsSinceStart(NowNs());
  ++slice_.counters.polls_sent;
  ++slice_.counters.polls_held;
  if (!slice_.Send(desktop.poll, request)) {
    OnBroken(index);
    return;
  }
  if (!desktop.ever_parked) {
    desktop.ever_parked = true;
    if (desktop.sender != kNoSender) {
      slice_.ready_senders.push_back(desktop.sender);
    }
  }
}

void Polls::OnResponse(uint32_t index, const HttpResponse& response) {
  Desktop& desktop = slice_.desktops[index];
  if (!desktop.poll_held) {  // a response without a request
    if (!MayCloseIdle(response)) {
      ++slice_.counters.answers_bad;
    }
    OnBroken(index);
    return;
  }
  EndPoll(desktop);
  ++slice_.counters.polls_answered;
  if (desktop.state == Desktop::State::kLeaving) {
    return;  // these sprites are never acknowledged, so they go on to the next desktop
  }
  if (response.status == 200 && desktop.wants_to_leave && slice_.phase == Phase::kThrow) {
    BeginLeaving(index);
  } else if (response.status == 200) {
    if (!OnBatch(index, response)) {
      ++slice_.counters.answers_bad;
      OnBroken(index);
      return;
    }
  } else {
    OnRefused(index, response);
  }
  if (!response.keep_alive) {
    slice_.Close(desktop.poll);
  }
}

bool Polls::OnBatch(uint32_t index, const HttpResponse& response) {
  Desktop& desktop = slice_.desktops[index];
  const int64_t now_ns = NowNs();
  Batch batch;
  JsonReader json(response.body);
  std::string_view key;
  if (!json.EnterObject()) {
    return false;
  }
  while (json.NextMember(&key)) {
    if (key == "cursor") {
      json.String(&batch.cursor);
    } else if (key == "events") {
      if (!json.EnterArray()) {
        return false;
      }
      while (json.NextElement()) {
        std::string_view type;
        SpriteEvent event;
        ReadEvent(json, &type, &event, &batch.retry_after_ms);
        if (!json.ok()) {
          break;
        }
        if (type == "sprite") {
          ++batch.sprites;
          ++slice_.counters.sprites_received;
          catches_.Catch(desktop, index, event, now_ns);
        } else if (type == "ping") {
          batch.ping = true;
        } else if (type == "bye") {
          batch.bye = true;
        }
      }
    } else {
      json.Skip();
    }
  }
  if (!json.ok() || batch.cursor.empty() || !desktop.cursor.Assign(batch.cursor)) {
    return false;
  }
  desktop.tries = 0;
  Counters& counters = slice_.counters;
  if (batch.sprites > 0) {
    ++counters.polls_with_sprites;
  } else if (batch.ping) {
    ++counters.polls_with_ping;
  } else {
    ++counters.polls_empty;
  }
  if (batch.bye) {
    ++counters.byes;
    slice_.RetryLater(Part::kPoll, index, &desktop.tries, batch.retry_after_ms);
  } else if (response.keep_alive) {
    SendPoll(index);
  } else {
    slice_.polling.push_back(index);
  }
  return true;
}

void Polls::OnRefused(uint32_t index, const HttpResponse& response) {
  Desktop& desktop = slice_.desktops[index];
  Counters& counters = slice_.counters;
  const Problem problem = ReadProblem(response);
  ++counters.polls_refused;
  ++counters.other_refused_by_code[ProblemIndex(problem.code)];
  if (response.status == 401 || (response.status == 410 && problem.code != "cursor-lost")) {
    ++counters.desktops_ended;
    --counters.joined;
    desktop.state = Desktop::State::kOutside;
    desktop.wants_to_leave = false;
    slice_.departed.Mark(FingerprintOf(desktop.id.view()));
    slice_.rejoin.push_back(index);
    return;
  }
  if (problem.code == "cursor-lost" && !problem.cursor.empty() &&
      desktop.cursor.Assign(problem.cursor)) {
    ++counters.cursors_lost;
    desktop.has_seq = false;
  }
  slice_.RetryLater(Part::kPoll, index, &desktop.tries, problem.retry_after_ms);
}

void Polls::OnOpenFailed(uint32_t index) {
  slice_.RetryLater(Part::kPoll, index, &slice_.desktops[index].tries);
}

void Polls::OnBroken(uint32_t index) {
  Desktop& desktop = slice_.desktops[index];
  if (desktop.poll.open()) {
    ++slice_.counters.cuts;
  }
  if (desktop.poll_held) {
    EndPoll(desktop);
    ++slice_.counters.polls_cut;
  }
  slice_.Close(desktop.poll);
  if (desktop.state == Desktop::State::kJoined) {
    slice_.RetryLater(Part::kPoll, index, &desktop.tries);
  }
}

void Polls::EndPoll(Desktop& desktop) {
  desktop.poll_held = false;
  --slice_.counters.polls_held;
}

void Polls::Sweep(int64_t now_ns) {
  const auto count = static_cast<uint32_t>(slice_.desktops.size());
  const uint32_t now_ms = slice_.MsSinceStart(now_ns);
  const auto overdue_ms = static_cast<uint32_t>(slice_.options.poll_overdue_s * 1000);
  for (uint32_t i = ShareBegin(sweep_, kSweeps, count); i < ShareBegin(sweep_ + 1, kSweeps, count);
       ++i) {
    const Desktop& desktop = slice_.desktops[i];
    if (desktop.poll_held && now_ms - desktop.poll_sent_ms > overdue_ms) {
      ++overdue_so_far_;
    }
  }
  if (++sweep_ == kSweeps) {
    sweep_ = 0;
    slice_.counters.polls_overdue = std::exchange(overdue_so_far_, 0);
  }
}

}  // namespace swarm
