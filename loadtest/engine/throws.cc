#include "throws.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "json_reader.h"

namespace swarm {
namespace {

constexpr uint16_t kBacklogMax = 64;     // unsettled throws of one sender; one more is skipped
constexpr uint8_t kSendsMax = 3;         // then a throw whose connection breaks has failed
constexpr int kThrowsPerTurnMax = 128;   // so that answers are read between bursts
constexpr int64_t kRefusedPauseMs = 20;  // closed loop: a relay that refuses must not be flooded
constexpr std::string_view kFile =
    "5b6c1f1e0d9a4f2f8c7b3a69584736251403f2e1d0cfbeadbc9a788766554433";

void AppendNumber(std::string& to, uint64_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  to.append(digits.data(), static_cast<size_t>(end - digits.data()));
}

std::string_view VelocityOf(Edge edge) {
  switch (edge) {
    case Edge::kLeft:
      return "-900,\"vy\":-50";
    case Edge::kRight:
      return "900,\"vy\":-50";
    case Edge::kTop:
      return "50,\"vy\":-900";
    case Edge::kBottom:
      return "50,\"vy\":900";
  }
  return {};
}

Fingerprint ReceiverOf(const HttpResponse& response, bool* agreed) {
  Fingerprint receiver = kNobody;
  std::string_view key;
  std::string_view id;
  JsonReader json(response.body);
  *agreed = json.EnterObject();
  while (json.NextMember(&key)) {
    if (key == "to" && json.Peek() == '{') {
      json.EnterObject();
      while (json.NextMember(&key)) {
        if (key == "desktop" && json.String(&id)) {
          receiver = FingerprintOf(id);
        } else {
          json.Skip();
        }
      }
    } else {
      json.Skip();
    }
  }
  *agreed = *agreed && json.ok();
  return receiver;
}

}  // namespace

Throws::Throws(Stage& stage) : stage_(stage) {
  const Options& options = stage.options;
  for (uint32_t i = 0; i < stage.desktops.size(); ++i) {
    if (stage.desktops[i].behaviour == Behaviour::kThrowing) {
      throwers_.push_back(i);
    }
  }
  const uint32_t share = FirstOf(stage.slice + 1, stage.run.slices(), options.throw_connections) -
                         FirstOf(stage.slice, stage.run.slices(), options.throw_connections);
  const auto most = static_cast<uint32_t>(throwers_.size());
  senders_.resize(options.throw_connections >= options.senders
                      ? most
                      : std::min(std::max<uint32_t>(share, 1), most));
  for (uint32_t i = 0; i < most; ++i) {
    stage.desktops[throwers_[i]].sender = i % static_cast<uint32_t>(senders_.size());
  }
  for (uint32_t i = 0; i < senders_.size(); ++i) {
    senders_[i].turn = i;
    idle_.push_back(i);
  }
  order_ = throwers_;
  for (size_t i = order_.size(); i > 1; --i) {
    std::swap(order_[i - 1], order_[stage.random.Next() % i]);
  }
  stage.counters.senders = senders_.size();
  padding_.assign(1024, ' ');
}

void Throws::Ready(uint32_t index) {
  Sender& sender = senders_[index];
  if (sender.connection.state() != Connection::State::kClosed) {
    return;
  }
  const uint32_t first = throwers_[index];
  if (!stage_.Begin(sender.connection, TagOf(Part::kSender, index),
                    stage_.desktops[first].crossings_endpoint, stage_.GlobalIndex(first) + 1)) {
    stage_.TryLater(Part::kSender, index, &sender.tries);
  }
}

void Throws::Again(uint32_t index) {
  if (senders_[index].connection.open()) {
    Pump(index);
  } else if (stage_.desktops[throwers_[index]].state == Desktop::State::kJoined) {
    Ready(index);
  } else {
    stage_.TryLater(Part::kSender, index, &senders_[index].tries);
  }
}

void Throws::Begin(int64_t from_ns, int64_t until_ns) {
  const Options& options = stage_.options;
  const uint32_t slices = stage_.run.slices();
  if (senders_.empty()) {
    return;
  }
  until_ns_ = until_ns;
  if (options.mode == Mode::kOpen) {
    schedule_.emplace(options.arrivals, options.rate / slices, stage_.slice, slices, options.seed,
                      from_ns, until_ns);
  } else if (options.mode == Mode::kClosed) {
    places_ = FirstOf(stage_.slice + 1, slices, options.in_flight) -
              FirstOf(stage_.slice, slices, options.in_flight);
  }
}

int64_t Throws::NextDue() const { return schedule_ ? schedule_->due_ns() : INT64_MAX; }

void Throws::Turn(int64_t now_ns) {
  if (places_ > 0) {
    StartRelays(now_ns);
  }
  if (!schedule_) {
    return;
  }
  for (int i = 0; i < kThrowsPerTurnMax && schedule_->due_ns() <= now_ns; ++i) {
    const uint32_t desktop = order_[turn_];
    turn_ = turn_ + 1 == order_.size() ? 0 : turn_ + 1;
    if (Offer(desktop, schedule_->due_ns())) {
      Pump(stage_.desktops[desktop].sender);
    }
    schedule_->Advance();
  }
}

void Throws::StartRelays(int64_t now_ns) {
  if (now_ns >= until_ns_) {
    return;
  }
  while (places_taken_ < places_ && !idle_.empty()) {
    const uint32_t index = idle_.front();
    Sender& sender = senders_[index];
    idle_.pop_front();
    sender.idle = false;
    const uint32_t desktop = throwers_[sender.turn];
    const auto next = sender.turn + static_cast<uint32_t>(senders_.size());
    sender.turn = next < throwers_.size() ? next : index;
    if (!Offer(desktop, NowNs())) {
      return;
    }
    ++places_taken_;
    Pump(index);
    if (!sender.idle && sender.unsettled < stage_.options.pipeline) {
      sender.idle = true;
      idle_.push_back(index);
    }
  }
}

bool Throws::Offer(uint32_t desktop, int64_t due_ns) {
  Sender& sender = senders_[stage_.desktops[desktop].sender];
  ++stage_.counters.offered;
  if (stage_.InWindow(due_ns)) {
    stage_.board.slip.Record(static_cast<uint64_t>(std::max<int64_t>(NowNs() - due_ns, 0)));
  }
  if (sender.unsettled >= kBacklogMax || next_number_ >= stage_.ledger.capacity()) {
    ++stage_.counters.skipped;
    return false;
  }
  ++stage_.counters.waiting;
  const uint32_t slot = NewThrow();
  Throw& thrown = throws_[slot];
  thrown.due_ns = due_ns;
  thrown.number = next_number_++;
  thrown.desktop = desktop;
  thrown.crossing = 0;
  thrown.next = kNone;
  thrown.tries = 0;
  thrown.edge = static_cast<Edge>(stage_.random.Next() % kEdges);
  stage_.ledger.Throw(thrown.number);
  if (sender.last == kNone) {
    sender.first = slot;
  } else {
    throws_[sender.last].next = slot;
  }
  sender.last = slot;
  if (sender.next_to_send == kNone) {
    sender.next_to_send = slot;
  }
  ++sender.unsettled;
  return true;
}

uint32_t Throws::NewThrow() {
  if (free_ == kNone) {
    throws_.emplace_back();
    return static_cast<uint32_t>(throws_.size() - 1);
  }
  const uint32_t slot = free_;
  free_ = throws_[slot].next;
  return slot;
}

void Throws::Pump(uint32_t index) {
  Sender& sender = senders_[index];
  while (sender.next_to_send != kNone && sender.on_wire < stage_.options.pipeline) {
    if (!sender.connection.open()) {
      // After a failure the calendar opens it again, after a pause.
      if (sender.tries == 0) {
        Ready(index);
      }
      return;
    }
    Throw& thrown = throws_[sender.next_to_send];
    if (stage_.desktops[thrown.desktop].state != Desktop::State::kJoined) {
      stage_.TryLater(Part::kSender, index, &sender.tries);
      return;
    }
    sender.next_to_send = thrown.next;
    ++sender.on_wire;
    if (!SendThrow(sender, thrown)) {
      Break(index);
      return;
    }
  }
}

bool Throws::SendThrow(Sender& sender, Throw& thrown) {
  Desktop& desktop = stage_.desktops[thrown.desktop];
  if (thrown.tries == 0) {
    thrown.crossing = ++desktop.crossing;
  }

  std::array<char, kSpriteTagBytes> tag;
  WriteSpriteTag({stage_.run_id, stage_.slice, thrown.number, stage_.GlobalIndex(thrown.desktop),
                  thrown.due_ns, thrown.edge},
                 tag.data());
  body_.assign("{\"crossing\":");
  AppendNumber(body_, thrown.crossing);
  body_.append(",\"edge\":\"").append(NameOf(thrown.edge));
  body_.append("\",\"at\":0.25,\"vx\":").append(VelocityOf(thrown.edge));
  body_.append(",\"sprite\":{\"file\":\"").append(kFile);
  body_.append("\",\"name\":\"").append(tag.data(), tag.size());
  body_.append("\",\"animation\":\"fall\",\"facing\":\"right\",\"scale\":2");
  constexpr std::string_view kEnd = "}}";
  const size_t whole = body_.size() + kEnd.size();
  if (whole < stage_.options.sprite_bytes) {
    body_.append(padding_, 0, stage_.options.sprite_bytes - whole);
  }
  body_.append(kEnd);

  std::string& request = stage_.request;
  request.assign("POST /v1/desktops/").append(desktop.id.view());
  request.append("/crossings HTTP/1.1\r\nHost: ");
  request.append(stage_.endpoints.At(desktop.crossings_endpoint).text);
  request.append("\r\nAuthorization: Bearer ").append(desktop.token.view());
  request.append("\r\nContent-Type: application/json\r\nContent-Length: ");
  AppendNumber(request, body_.size());
  request.append("\r\n\r\n").append(body_);

  thrown.sent_ns = NowNs();
  if (thrown.tries++ == 0) {
    --stage_.counters.waiting;
    ++stage_.counters.sent;
    ++stage_.counters.in_flight;
  } else {
    ++stage_.counters.resent;
  }
  return stage_.Send(sender.connection, request);
}

void Throws::OnEvent(uint32_t index, uint32_t events) {
  struct Owner {
    Throws& throws;
    uint32_t index;
    void OnOpen() { throws.OnOpen(index); }
    void OnNotOpened() { throws.Break(index); }
    void OnAnswer(const HttpResponse& response) { throws.OnAnswer(index, response); }
    void OnBroken() { throws.Break(index); }
  };
  Sender& sender = senders_[index];
  stage_.Serve(sender.connection, events, Owner{*this, index});
  if (sender.connection.open() && sender.next_to_send != kNone) {
    Pump(index);
  }
}

void Throws::OnOpen(uint32_t index) {
  Sender& sender = senders_[index];
  sender.tries = 0;
  if (!sender.opened) {
    ++stage_.counters.senders_opened;
    sender.opened = true;
  }
  Pump(index);
}

void Throws::OnAnswer(uint32_t index, const HttpResponse& response) {
  Sender& sender = senders_[index];
  if (sender.on_wire == 0) {  // an answer to nothing
    if (!ClosesIdle(response)) {
      ++stage_.counters.answers_bad;
    }
    Break(index);
    return;
  }
  const Throw& thrown = throws_[sender.first];
  ++stage_.counters.answered;
  if (response.status == 202) {
    Accepted(thrown, response);
    Settle(index, Fate::kAccepted);
  } else if (response.status >= 400) {
    const Problem problem = ReadProblem(response);
    ++stage_.counters.refused_by_code[ProblemIndex(problem.code)];
    Settle(index, Fate::kRefused);
  } else {
    Settle(index, Fate::kUnexpected);
  }
  if (!response.keep_alive) {
    Break(index);
  }
}

void Throws::Accepted(const Throw& thrown, const HttpResponse& response) {
  bool agreed = false;
  const Fingerprint receiver = ReceiverOf(response, &agreed);
  if (!agreed) {
    ++stage_.counters.answers_bad;
  }
  const int64_t now_ns = NowNs();
  if (stage_.InWindow(thrown.due_ns)) {
    stage_.board.answer.Record(static_cast<uint64_t>(std::max<int64_t>(now_ns - thrown.due_ns, 0)));
  }
  const Ledger::Outcome outcome = stage_.ledger.Accept(thrown.number, receiver);
  if (stage_.options.mode != Mode::kClosed) {
    return;
  }
  if (outcome.complete) {
    FreePlaces(1);
  } else {
    WatchAccepted(thrown.number, now_ns);
  }
}

void Throws::WatchAccepted(uint64_t number, int64_t now_ns) {
  while (!watched_.empty() && stage_.ledger.complete(watched_.front().number)) {
    watched_.pop_front();
  }
  watched_.push_back({number, now_ns});
}

void Throws::Settle(uint32_t index, Fate fate) {
  Sender& sender = senders_[index];
  const uint32_t slot = sender.first;
  Throw& thrown = throws_[slot];
  Counters& counters = stage_.counters;
  switch (fate) {
    case Fate::kAccepted:
      ++counters.accepted;
      break;
    case Fate::kRefused:
      ++counters.refused;
      break;
    case Fate::kUnexpected:
      ++counters.unexpected;
      break;
    case Fate::kTimedOut:
      ++counters.timed_out;
      break;
    case Fate::kFailed:
      ++counters.failed;
      break;
  }
  --counters.in_flight;
  if (fate != Fate::kAccepted) {
    stage_.ledger.Refuse(thrown.number);
    // Abandoned: should it be delivered all the same, its place is not freed twice.
    if (stage_.options.mode == Mode::kClosed && stage_.ledger.Abandon(thrown.number)) {
      stage_.TryAt(Part::kRelayPlace, 0, NowNs() + kRefusedPauseMs * kNsPerMs);
    }
  }
  if (sender.on_wire > 0) {
    --sender.on_wire;
  }
  if (sender.next_to_send == slot) {
    sender.next_to_send = thrown.next;
  }
  sender.first = thrown.next;
  if (sender.first == kNone) {
    sender.last = kNone;
  }
  --sender.unsettled;
  thrown.next = free_;
  free_ = slot;
  if (stage_.options.mode == Mode::kClosed && !sender.idle &&
      sender.unsettled < stage_.options.pipeline) {
    sender.idle = true;
    idle_.push_back(index);
  }
}

void Throws::Break(uint32_t index) {
  Sender& sender = senders_[index];
  if (sender.connection.open() && sender.on_wire > 0) {
    ++stage_.counters.cuts;
  }
  stage_.Close(sender.connection);
  sender.on_wire = 0;
  sender.next_to_send = sender.first;
  while (sender.first != kNone && throws_[sender.first].tries >= kSendsMax) {
    Settle(index, Fate::kFailed);
  }
  // A connection that nobody needs is opened by the next throw; but each must have been open once.
  if (sender.first != kNone || !sender.opened) {
    stage_.TryLater(Part::kSender, index, &sender.tries);
  }
}

void Throws::Sweep(int64_t now_ns) {
  const auto timeout_ns = static_cast<int64_t>(stage_.options.post_timeout_s * kNsPerSecond);
  for (uint32_t i = 0; i < senders_.size(); ++i) {
    Sender& sender = senders_[i];
    if (sender.first == kNone || throws_[sender.first].tries == 0 ||
        now_ns - throws_[sender.first].sent_ns <= timeout_ns) {
      continue;
    }
    Settle(i, Fate::kTimedOut);
    // The answer may still come, and would be taken for that of the next throw.
    Break(i);
  }
  while (!watched_.empty() && (stage_.ledger.complete(watched_.front().number) ||
                               now_ns - watched_.front().since_ns > timeout_ns)) {
    if (stage_.ledger.Abandon(watched_.front().number)) {
      ++stage_.counters.abandoned;
      FreePlaces(1);
    }
    watched_.pop_front();
  }
}

}  // namespace swarm
