#include "desktops/polls.h"

#include <charconv>
#include <utility>

#include "net/json_reader.h"
#include "wire/rules.h"

namespace swarm {
namespace {

constexpr uint32_t kSweeps = 8;  // calls of Sweep that look at every poll once
// A relay has read a poll that has been out for so long, with its cursor. One that was slower says
// in its answer to the poll what it has not read. This only helps with relays that don't say so.
constexpr int64_t kQuietMs = 2'000;

// An upgrade that takes longer has failed: it is one round trip and no wait.
constexpr auto kUpgradeMsMax = static_cast<uint32_t>(rules::kAnswerMsMax);

// The sequence of a cursor, `6a1f03c2-81`; 0 when it has none.
uint64_t SequenceOf(std::string_view cursor) {
  uint64_t sequence = 0;
  const size_t dash = cursor.find('-');
  if (dash != std::string_view::npos) {
    std::from_chars(cursor.data() + dash + 1, cursor.data() + cursor.size(), sequence);
  }
  return sequence;
}

void ReadSprite(JsonReader& json, Arrival* event) {
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

// The first sprite of a stage, and how many it has.
void ReadStage(JsonReader& json, Arrival* event) {
  if (!json.EnterArray()) {
    return;
  }
  for (; json.NextElement(); ++event->elements) {
    if (event->elements > 0 || !json.EnterObject()) {
      json.Skip();
      continue;
    }
    std::string_view key;
    while (json.NextMember(&key)) {
      if (key == "id") {
        json.Unsigned(&event->number);
      } else if (key == "x") {
        json.Number(&event->x);
      } else if (key == "y") {
        json.Number(&event->y);
      } else {
        json.Skip();
      }
    }
  }
}

void ReadEvent(JsonReader& json, std::string_view* type, Arrival* event, PollBatch* batch) {
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
      json.ObjectWith("desktop", &event->from);
    } else if (key == "sprite") {
      ReadSprite(json, event);
    } else if (key == "at") {
      json.Number(&event->flight.at);
    } else if (key == "vx") {
      json.Number(&event->flight.vx);
    } else if (key == "vy") {
      json.Number(&event->flight.vy);
    } else if (key == "text") {
      json.String(&event->text);
    } else if (key == "sayings") {
      json.Unsigned(&event->missed);
    } else if (key == "sprites") {
      ReadStage(json, event);
    } else if (key == "edges" && json.EnterArray()) {
      for (; json.NextElement(); json.Skip()) {
        ++event->elements;
      }
    } else if (key == "retryAfterMs") {
      json.Unsigned(&batch->retry_after_ms);
    } else if (key == "join") {
      json.String(&batch->join);
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
  if (desktop.poll.open() && slice_.IsClosing(index)) {
    Close(index);  // the relay did not close it during the pause
  }
  if (desktop.poll.open()) {
    if (!desktop.poll_held && slice_.IsReady(index)) {
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
  if (!DelayRead(index, events)) {
    slice_.HandleEvent(slice_.desktops[index].poll, events, *this, index);
  }
}

bool Polls::DelayRead(uint32_t index, uint32_t events) {
  Desktop& desktop = slice_.desktops[index];
  const bool input = (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  if (desktop.behaviour != Behaviour::kSlow || !slice_.IsReady(index) || !input) {
    return false;
  }
  if (!desktop.read_scheduled) {
    desktop.read_scheduled = true;
    ++slice_.counters.reads_due;
    slice_.ScheduleAt(Part::kLateRead, index, NowNs() + Ns(slice_.options.read_late_s));
  }
  return true;
}

void Polls::EndDelay(uint32_t index) {
  slice_.desktops[index].read_scheduled = false;
  --slice_.counters.reads_due;
}

void Polls::ReadLate(uint32_t index) {
  EndDelay(index);
  slice_.HandleEvent(slice_.desktops[index].poll, kLateEvents, *this, index);
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
  catches_.Acknowledge(desktop);  // it left when the relay had read its last poll
  Close(index);
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
  slice_.joining.push_back(index);
}

void Polls::SendPoll(uint32_t index) {
  Desktop& desktop = slice_.desktops[index];
  std::string& request = slice_.request;
  request.clear();
  if (slice_.has_sockets()) {
    WriteMessage(index, &request);
  } else {
    WritePoll(desktop, &request);
  }
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
    if (desktop.behaviour == Behaviour::kThrowing && !slice_.has_sockets()) {
      slice_.ready_senders.push_back(desktop.sender);
    }
  }
}

void Polls::WritePoll(const Desktop& desktop, std::string* to) const {
  to->append("GET /v1/desktops/").append(desktop.id.view()).append("/events");
  if (!desktop.cursor.empty()) {
    to->append("?cursor=").append(desktop.cursor.view());
  }
  to->append(" HTTP/1.1\r\nHost: ").append(slice_.endpoints.At(desktop.events_endpoint).text);
  to->append("\r\nAuthorization: Bearer ").append(desktop.token.view()).append("\r\n\r\n");
}

void Polls::WriteMessage(uint32_t index, std::string* to) {
  const Desktop& desktop = slice_.desktops[index];
  Socket& socket = slice_.sockets[index];
  std::string& message = slice_.message;
  message.clear();
  message += '{';
  if (!socket.identified) {
    // The first message: the token has to come before anything else.
    message.append("\"token\":\"").append(desktop.token.view()).append("\",");
    socket.identified = true;
    if (desktop.sender != kNoSender) {
      slice_.news.push_back({SocketNews::What::kOpened, index});
    }
  }
  if (desktop.cursor.empty()) {
    message.append("\"cursor\":null}");
  } else {
    message.append("\"cursor\":\"").append(desktop.cursor.view()).append("\"}");
  }
  slice_.AppendMessage(index, message, to);
}

void Polls::OnResponse(uint32_t index, const HttpResponse& response) {
  Connection& connection = slice_.desktops[index].poll;
  if (!slice_.desktops[index].poll_held && MayCloseIdle(response)) {
    OnBroken(index);
    return;
  }
  if (response.status == 200) {
    OnBatch(index, response.body, response.keep_alive);
  } else {
    OnRefused(index, ReadProblem(response));
  }
  if (!response.keep_alive) {
    slice_.Close(connection);
  }
}

bool Polls::EndAnswered(uint32_t index) {
  Desktop& desktop = slice_.desktops[index];
  if (!desktop.poll_held) {  // an answer without a poll
    ++slice_.counters.answers_bad;
    OnBroken(index);
    return false;
  }
  EndPoll(desktop);
  ++slice_.counters.polls_answered;
  // What a leaving desktop gets is never acknowledged, so it goes on to the next desktop.
  return desktop.state != Desktop::State::kLeaving;
}

void Polls::OnBatch(uint32_t index, std::string_view body, bool keep_alive) {
  catches_.Acknowledge(slice_.desktops[index]);
  if (!EndAnswered(index)) {
    return;
  }
  if (slice_.desktops[index].wants_to_leave && slice_.phase == Phase::kThrow) {
    BeginLeaving(index);
  } else if (!ReadBatch(index, body, keep_alive)) {
    ++slice_.counters.answers_bad;
    OnBroken(index);
  }
}

bool Polls::ReadBatch(uint32_t index, std::string_view body, bool keep_alive) {
  Desktop& desktop = slice_.desktops[index];
  PollBatch batch;
  if (!CatchBatch(index, body, &batch) || !desktop.cursor.Assign(batch.cursor)) {
    return false;
  }
  desktop.tries = 0;
  CountBatch(batch);
  if (batch.bye && !batch.join.empty()) {
    slice_.MoveTo(index, batch.join);
    Move(index, batch.retry_after_ms);
  } else if (batch.bye) {
    slice_.RetryLater(Part::kPoll, index, &desktop.tries, batch.retry_after_ms);
  } else if (keep_alive) {
    SendPoll(index);
  } else {
    slice_.polling.push_back(index);
  }
  return true;
}

bool Polls::CatchBatch(uint32_t index, std::string_view body, PollBatch* batch) {
  const int64_t now_ns = NowNs();
  JsonReader json(body);
  std::string_view key;
  if (!json.EnterObject()) {
    return false;
  }
  while (json.NextMember(&key)) {
    if (key == "cursor") {
      json.String(&batch->cursor);
      continue;
    }
    if (key != "events") {
      json.Skip();
      continue;
    }
    if (!json.EnterArray()) {
      return false;
    }
    while (json.NextElement()) {
      std::string_view type;
      Arrival event;
      ReadEvent(json, &type, &event, batch);
      if (json.ok() && type == "sprite") {
        ++batch->sprites;
        ++slice_.counters.sprites_received;
        catches_.Catch(slice_.desktops[index], index, event, now_ns);
      } else if (json.ok() && type == "saying") {
        catches_.Hear(index, event, now_ns);
      } else if (json.ok() && type == "missed") {
        slice_.counters.hearings_missed += event.missed;
      } else if (json.ok() && type == "stage") {
        catches_.See(index, event);
      } else if (json.ok() && type == "watched") {
        slice_.desktops[index].is_watched = event.elements > 0;
        if (event.elements > 0 && !std::exchange(slice_.desktops[index].in_watched, true)) {
          slice_.watched.push_back(index);
        }
      }
      batch->ping = batch->ping || type == "ping";
      batch->bye = batch->bye || type == "bye";
    }
  }
  return json.ok() && !batch->cursor.empty();
}

void Polls::CountBatch(const PollBatch& batch) {
  Counters& counters = slice_.counters;
  if (batch.sprites > 0) {
    ++counters.polls_with_sprites;
  } else if (batch.ping) {
    ++counters.polls_with_ping;
  } else {
    ++counters.polls_empty;
  }
}

void Polls::Move(uint32_t index, uint64_t pause_ms) {
  Desktop& desktop = slice_.desktops[index];
  ++slice_.counters.moved;
  End(index);
  slice_.RetryLater(Part::kJoiner, index, &desktop.tries, pause_ms);
}

void Polls::End(uint32_t index) {
  Desktop& desktop = slice_.desktops[index];
  --slice_.counters.joined;
  desktop.state = Desktop::State::kOutside;
  desktop.wants_to_leave = false;
  catches_.Acknowledge(desktop);  // a relay that has forgotten it says no more of its last batch
  slice_.departed.Mark(FingerprintOf(desktop.id.view()));
}

void Polls::OnRefused(uint32_t index, const Problem& problem) {
  GiveBack(index, problem);
  // At the end of the run a desktop leaves while its poll is out, so the relay ends the poll.
  if (!EndAnswered(index) || slice_.phase == Phase::kLeave) {
    return;
  }
  ++slice_.counters.polls_refused;
  RecoverFrom(index, problem);
}

void Polls::OnUpgradeRefused(uint32_t index, const Problem& problem) {
  Close(index);
  GiveBack(index, problem);
  RecoverFrom(index, problem);
}

void Polls::GiveBack(uint32_t index, const Problem& problem) {
  // At the end of the run all desktops leave, so nobody is left to whom a sprite could go on.
  if (problem.code == rules::codes::kDesktopEnded && slice_.phase != Phase::kLeave) {
    // Without a cursor the relay has forgotten the desktop: nothing of its last batch counts.
    catches_.GiveBack(slice_.desktops[index], SequenceOf(problem.cursor));
  }
}

void Polls::RecoverFrom(uint32_t index, const Problem& problem) {
  Desktop& desktop = slice_.desktops[index];
  Counters& counters = slice_.counters;
  ++counters.other_refused_by_code[ProblemIndex(problem.code)];
  if (problem.status == 401 ||
      (problem.status == 410 && problem.code != rules::codes::kCursorLost)) {
    ++counters.desktops_ended;
    End(index);
    slice_.joining.push_back(index);
    return;
  }
  if (problem.code == rules::codes::kCursorLost && !problem.cursor.empty() &&
      desktop.cursor.Assign(problem.cursor)) {
    desktop.has_seq = false;
  }
  slice_.RetryLater(Part::kPoll, index, &desktop.tries, problem.retry_after_ms);
}

void Polls::OnOpenFailed(uint32_t index) {
  Desktop& desktop = slice_.desktops[index];
  // The address that it joins at may lead to another relay.
  if (desktop.tries >= LostTries(desktop.lease_seconds) &&
      desktop.state == Desktop::State::kJoined &&
      slice_.endpoints.At(desktop.crossings_endpoint).text !=
          slice_.endpoints.At(slice_.ApiEndpoint(index)).text) {
    desktop.tries = 0;
    Move(index, 0);
    return;
  }
  slice_.RetryLater(Part::kPoll, index, &desktop.tries);
}

void Polls::OnBroken(uint32_t index) {
  Desktop& desktop = slice_.desktops[index];
  if (desktop.poll.open() && !slice_.IsClosing(index)) {
    ++slice_.counters.cuts;
  }
  if (desktop.poll_held) {
    EndPoll(desktop);
    ++slice_.counters.polls_cut;
  }
  Close(index);
  if (desktop.state == Desktop::State::kJoined) {
    slice_.RetryLater(Part::kPoll, index, &desktop.tries);
  }
}

void Polls::Close(uint32_t index) {
  Desktop& desktop = slice_.desktops[index];
  if (desktop.sender != kNoSender && slice_.has_sockets() && desktop.poll.open()) {
    slice_.news.push_back({SocketNews::What::kBroken, index});
  }
  slice_.Close(desktop.poll);
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
    if (slice_.IsUpgrading(i) && now_ms - desktop.poll_sent_ms > kUpgradeMsMax) {
      OnBroken(i);
    }
  }
  if (++sweep_ == kSweeps) {
    sweep_ = 0;
    slice_.counters.polls_overdue = std::exchange(overdue_so_far_, 0);
  }
}

}  // namespace swarm
