#include "desktops/throws.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "account/flight.h"

namespace swarm {
namespace {

constexpr uint16_t kBacklogMax = 64;  // unsettled throws of one sender; another is skipped
// A throw that was sent so often fails when its connection breaks. A relay that is killed may reset
// the same throw several times while its threads end one by one.
constexpr uint8_t kSendsMax = 10;
constexpr int kThrowsPerTurnMax = 128;   // so that responses are read between bursts
constexpr int64_t kRefusedPauseMs = 20;  // closed loop: do not flood a relay that refuses
// How long after the window its last throws may leave. A slice that waits for a core for a moment
// still throws on time; one that was stopped skips what it has missed.
constexpr int64_t kLastThrowNs = 100 * kNsPerMs;

}  // namespace

Throws::Throws(SliceState& slice) : slice_(slice) {
  const Options& options = slice.options;
  for (uint32_t i = 0; i < slice.desktops.size(); ++i) {
    if (slice.desktops[i].behaviour == Behaviour::kThrowing) {
      throwers_.push_back(i);
    }
  }
  const uint32_t share =
      ShareBegin(slice.index + 1, slice.run.slices(), options.throw_connections) -
      ShareBegin(slice.index, slice.run.slices(), options.throw_connections);
  const auto throwers = static_cast<uint32_t>(throwers_.size());
  const auto relays = static_cast<uint32_t>(options.apis.size());
  uint32_t senders = throwers;
  if (options.throw_connections < options.senders) {
    senders = std::min(std::max<uint32_t>(share, 1), throwers);
    // The relays of throwers rotate. So all that share a connection have the same one when the
    // connections are a multiple of the relays.
    senders -= senders < throwers ? senders % relays : 0;
  }
  senders_.resize(senders);
  for (uint32_t i = 0; i < throwers; ++i) {
    slice.desktops[throwers_[i]].sender = i % static_cast<uint32_t>(senders_.size());
  }
  for (uint32_t i = 0; i < senders_.size(); ++i) {
    senders_[i].next_thrower = i;
    senders_[i].opened = options.throw_each;  // none of them is opened before its first throw
    idle_.push_back(i);
  }
  order_ = throwers_;
  for (size_t i = order_.size(); i > 1; --i) {
    std::swap(order_[i - 1], order_[slice.random.Next() % i]);
  }
  slice.counters.senders = options.throw_each ? 0 : senders_.size();
  padding_.assign(1024, ' ');
}

void Throws::OpenConnection(uint32_t index) {
  Sender& sender = senders_[index];
  if (slice_.has_sockets() || sender.connection.state() != Connection::State::kClosed) {
    return;
  }
  const uint32_t first = throwers_[index];
  const uint32_t next = sender.first == kNone ? first : throws_[sender.first].desktop;
  sender.endpoint = slice_.desktops[next].crossings_endpoint;
  if (!slice_.Connect(sender.connection, TagOf(Part::kSender, index), sender.endpoint,
                      slice_.GlobalIndex(first) + 1)) {
    slice_.RetryLater(Part::kSender, index, &sender.tries);
  }
}

void Throws::Retry(uint32_t index) {
  senders_[index].paced = false;
  if (IsOpen(index)) {
    SendWaiting(index);
  } else if (slice_.desktops[throwers_[index]].state == Desktop::State::kJoined) {
    OpenConnection(index);
  } else {
    slice_.RetryLater(Part::kSender, index, &senders_[index].tries);
  }
}

void Throws::Begin(int64_t from_ns, int64_t until_ns) {
  const Options& options = slice_.options;
  const uint32_t slices = slice_.run.slices();
  until_ns_ = until_ns;
  if (senders_.empty()) {
    return;
  }
  if (options.mode == Mode::kOpen) {
    schedule_.emplace(options.arrivals, CurveOf(options), slice_.index, slices, options.seed,
                      from_ns, until_ns);
  } else if (options.mode == Mode::kClosed) {
    permits_ = ShareBegin(slice_.index + 1, slices, options.in_flight) -
               ShareBegin(slice_.index, slices, options.in_flight);
  }
}

int64_t Throws::NextDue() const { return schedule_ ? schedule_->due_ns() : INT64_MAX; }

void Throws::Turn(int64_t now_ns) {
  const bool is_over = now_ns >= until_ns_ && (!schedule_ || schedule_->due_ns() == INT64_MAX);
  if (!slice_.throwing_ended && slice_.phase >= Phase::kThrow &&
      (is_over || now_ns > until_ns_ + kLastThrowNs || slice_.phase > Phase::kDrain)) {
    End();
  }
  if (slice_.throwing_ended) {
    return;
  }
  if (permits_ > 0) {
    StartThrows(now_ns);
  }
  if (!schedule_) {
    return;
  }
  for (int i = 0; i < kThrowsPerTurnMax && schedule_->due_ns() <= now_ns; ++i) {
    const uint32_t desktop = NextInOrder();
    if (Offer(desktop, schedule_->due_ns())) {
      SendWaiting(slice_.desktops[desktop].sender);
    }
    schedule_->Advance();
  }
}

uint32_t Throws::NextInOrder() {
  for (size_t tries = 0;; ++tries) {
    const uint32_t desktop = order_[next_in_order_];
    next_in_order_ = next_in_order_ + 1 == order_.size() ? 0 : next_in_order_ + 1;
    if (slice_.options.toward == Toward::kAny || EdgesOf(desktop) != 0 || tries == order_.size()) {
      return desktop;
    }
  }
}

uint8_t Throws::EdgesOf(uint32_t desktop) const {
  constexpr uint8_t kAll = (1U << kEdges) - 1;
  const Exits& exits = slice_.run.exits(slice_.GlobalIndex(desktop));
  const uint8_t known = exits.known.load(std::memory_order_relaxed);
  if (known != kAll) {
    return kAll & ~known;
  }
  const uint8_t across = exits.across.load(std::memory_order_relaxed);
  if (across == 0 || across == kAll) {
    return 0;
  }
  return slice_.options.toward == Toward::kAcross ? across : kAll & ~across;
}

Edge Throws::PickEdge(uint32_t desktop) {
  const uint64_t random = slice_.random.Next();
  const uint8_t edges = slice_.options.toward == Toward::kAny ? 0 : EdgesOf(desktop);
  if (edges == 0) {
    return static_cast<Edge>(random % kEdges);
  }
  unsigned edge = 0;
  for (auto left = random % static_cast<unsigned>(std::popcount(edges));; ++edge) {
    if ((edges & (1U << edge)) != 0 && left-- == 0) {
      return static_cast<Edge>(edge);
    }
  }
}

void Throws::End() {
  slice_.throwing_ended = true;
  permits_ = 0;
  for (; schedule_ && schedule_->due_ns() != INT64_MAX; schedule_->Advance()) {
    CountDue(schedule_->due_ns());
    ++slice_.counters.skipped;
    ++slice_.counters.missed;
  }
  schedule_.reset();
}

void Throws::CountDue(int64_t due_ns) {
  if (slice_.InWindow(due_ns)) {
    ++slice_.counters.due;
    slice_.board.slip.Record(static_cast<uint64_t>(std::max<int64_t>(NowNs() - due_ns, 0)));
  }
}

void Throws::StartThrows(int64_t now_ns) {
  if (now_ns >= until_ns_) {
    return;
  }
  while (permits_used_ < permits_ && !idle_.empty()) {
    const uint32_t index = idle_.front();
    Sender& sender = senders_[index];
    idle_.pop_front();
    sender.idle = false;
    const uint32_t desktop = throwers_[sender.next_thrower];
    const auto next = sender.next_thrower + static_cast<uint32_t>(senders_.size());
    sender.next_thrower = next < throwers_.size() ? next : index;
    if (!Offer(desktop, NowNs())) {
      return;
    }
    ++permits_used_;
    SendWaiting(index);
    MakeIdle(index);
  }
}

bool Throws::Offer(uint32_t desktop, int64_t due_ns) {
  Sender& sender = senders_[slice_.desktops[desktop].sender];
  CountDue(due_ns);
  if (sender.unsettled >= kBacklogMax || next_number_ >= slice_.ledger.capacity()) {
    ++slice_.counters.skipped;
    return false;
  }
  ++slice_.counters.offered;
  ++slice_.counters.waiting;
  const uint32_t at = NewThrow();
  Throw& thrown = throws_[at];
  thrown.due_ns = due_ns;
  thrown.number = next_number_++;
  thrown.desktop = desktop;
  thrown.crossing = 0;
  thrown.next = kNone;
  thrown.tries = 0;
  thrown.edge = PickEdge(desktop);
  slice_.ledger.Throw(thrown.number);
  if (sender.last == kNone) {
    sender.first = at;
  } else {
    throws_[sender.last].next = at;
  }
  sender.last = at;
  ++sender.unsettled;
  return true;
}

uint32_t Throws::NewThrow() {
  if (free_ == kNone) {
    throws_.emplace_back();
    return static_cast<uint32_t>(throws_.size() - 1);
  }
  const uint32_t at = free_;
  free_ = throws_[at].next;
  return at;
}

void Throws::SendWaiting(uint32_t index) {
  Sender& sender = senders_[index];
  while (sender.first != kNone && !sender.on_wire && slice_.MayThrow()) {
    if (!IsOpen(index)) {
      // After a failure, the calendar opens it again when the pause is over.
      if (sender.tries == 0) {
        OpenConnection(index);
      }
      return;
    }
    switch (NextStep(index)) {
      case Step::kSend:
        Send(index);
        return;
      case Step::kWait:
        return;
      case Step::kFail:
        Settle(index, Fate::kFailed);
        break;
      case Step::kReconnect:
        slice_.Close(sender.connection);
        OpenConnection(index);
        return;
    }
  }
}

Throws::Step Throws::NextStep(uint32_t index) {
  Sender& sender = senders_[index];
  const Throw& thrown = throws_[sender.first];
  const Desktop& desktop = slice_.desktops[thrown.desktop];
  if (!MaySend(index)) {
    return Step::kWait;
  }
  if (thrown.tries > 0 && thrown.identity != desktop.identity) {
    // The relay may have accepted it from the desktop that it was. Under another identity the
    // same number would be a new throw, and the sprite would fly twice.
    return Step::kFail;
  }
  if (desktop.state != Desktop::State::kJoined) {
    slice_.RetryLater(Part::kSender, index, &sender.tries);
    return Step::kWait;
  }
  if (!slice_.has_sockets() && sender.endpoint != desktop.crossings_endpoint) {
    return Step::kReconnect;  // the desktop has moved to another relay
  }
  return Step::kSend;
}

void Throws::Send(uint32_t index) {
  Sender& sender = senders_[index];
  sender.on_wire = true;
  WriteThrow(throws_[sender.first]);
  if (slice_.Send(ConnectionOf(index), slice_.request)) {
    return;
  }
  if (slice_.has_sockets()) {
    slice_.broken.push_back(throwers_[index]);
  } else {
    OnBroken(index);
  }
}

bool Throws::IsOpen(uint32_t index) const {
  return slice_.has_sockets() ? slice_.IsReady(throwers_[index])
                              : senders_[index].connection.open();
}

Connection& Throws::ConnectionOf(uint32_t index) {
  return slice_.has_sockets() ? slice_.desktops[throwers_[index]].poll : senders_[index].connection;
}

bool Throws::MaySend(uint32_t index) {
  if (!slice_.has_sockets()) {
    return true;
  }
  const MessagePace& pace = slice_.sockets[throwers_[index]].pace;
  if (pace.MaySend(NowNs())) {
    return true;
  }
  if (!senders_[index].paced) {
    senders_[index].paced = true;
    ++slice_.counters.paced;
    slice_.ScheduleAt(Part::kSender, index, pace.free_at_ns());
  }
  return false;
}

void Throws::WriteBody(const Throw& thrown) {
  const SpriteTag tag = {slice_.run_id,
                         slice_.index,
                         thrown.number,
                         slice_.GlobalIndex(thrown.desktop),
                         thrown.due_ns - slice_.first_throw_ns(),
                         thrown.edge};
  std::array<char, kSpriteTagBytes> name;
  WriteSpriteTag(tag, name.data());
  const Flight flight(tag, slice_.options.pictures);
  body_.assign("{\"crossing\":").append(std::to_string(thrown.crossing));
  body_.append(",\"edge\":\"").append(NameOf(thrown.edge)).append("\",");
  flight.AppendMotion(body_);
  body_.append(",\"sprite\":{\"name\":\"").append(name.data(), name.size()).append("\",");
  flight.AppendPicture(body_);
  constexpr std::string_view kEnd = "}}";
  const size_t whole = body_.size() + kEnd.size();
  if (whole < slice_.options.sprite_bytes) {
    body_.append(padding_, 0, slice_.options.sprite_bytes - whole);
  }
  body_.append(kEnd);
}

void Throws::WriteThrow(Throw& thrown) {
  Desktop& desktop = slice_.desktops[thrown.desktop];
  if (thrown.tries == 0) {
    thrown.crossing = ++desktop.crossing;
    thrown.identity = desktop.identity;
  }
  WriteBody(thrown);
  thrown.sent_ns = NowNs();
  slice_.request.clear();
  if (slice_.has_sockets()) {
    slice_.AppendMessage(thrown.desktop, body_, &slice_.request);
  } else {
    slice_.AppendPost(desktop, "/crossings", body_, &slice_.request,
                      slice_.options.throw_each ? "Connection: close\r\n" : "");
  }
  if (thrown.tries++ == 0) {
    --slice_.counters.waiting;
    ++slice_.counters.sent;
    ++slice_.counters.in_flight;
  } else {
    ++slice_.counters.resent;
  }
}

void Throws::OnMessage(uint32_t index, const Verdict& verdict) {
  const Sender& sender = senders_[index];
  if (sender.on_wire && throws_[sender.first].crossing == verdict.number) {
    OnVerdict(index, verdict);
    SendWaiting(index);
  } else if (verdict.number > slice_.desktops[throwers_[index]].crossing) {
    ++slice_.counters.answers_bad;  // otherwise it is about a throw that has timed out
  }
}

void Throws::OnEvent(uint32_t index, uint32_t events) {
  Sender& sender = senders_[index];
  slice_.HandleEvent(sender.connection, events, *this, index);
  const bool may_open =
      slice_.options.throw_each && sender.connection.state() == Connection::State::kClosed;
  if (sender.connection.open() || may_open) {
    SendWaiting(index);
  }
}

void Throws::OnOpen(uint32_t index) {
  Sender& sender = senders_[index];
  sender.tries = 0;
  if (!sender.opened) {
    ++slice_.counters.senders_opened;
    sender.opened = true;
  }
  SendWaiting(index);
}

void Throws::OnResponse(uint32_t index, const HttpResponse& response) {
  Sender& sender = senders_[index];
  if (!sender.on_wire) {  // a response without a request
    if (!MayCloseIdle(response)) {
      ++slice_.counters.answers_bad;
    }
    OnBroken(index);
    return;
  }
  OnVerdict(index, ReadVerdict(response));
  if (slice_.options.throw_each) {
    slice_.Close(sender.connection);
  } else if (!response.keep_alive) {
    OnBroken(index);
  }
}

void Throws::OnVerdict(uint32_t index, const Verdict& verdict) {
  ++slice_.counters.answered;
  switch (verdict.kind) {
    case Verdict::Kind::kAccepted:
      OnAccepted(throws_[senders_[index].first], verdict);
      Settle(index, Fate::kAccepted);
      break;
    case Verdict::Kind::kRefused:
      ++slice_.counters.refused_by_code[verdict.problem];
      Settle(index, Fate::kRefused);
      break;
    case Verdict::Kind::kUnexpected:
      Settle(index, Fate::kUnexpected);
      break;
  }
}

void Throws::OnAccepted(const Throw& thrown, const Verdict& verdict) {
  if (!verdict.valid) {
    ++slice_.counters.answers_bad;
  }
  const int64_t now_ns = NowNs();
  if (slice_.InWindow(thrown.due_ns)) {
    slice_.board.answer.Record(static_cast<uint64_t>(std::max<int64_t>(now_ns - thrown.due_ns, 0)));
  }
  const Ledger::Outcome outcome = slice_.ledger.Accept(thrown.number, verdict.receiver);
  slice_.counters.arrived += outcome.arrived ? 1 : 0;
  if (slice_.options.mode != Mode::kClosed) {
    return;
  }
  if (outcome.complete) {
    FreePermits(1);
  } else {
    WatchAccepted(thrown.number, now_ns);
  }
}

void Throws::WatchAccepted(uint64_t number, int64_t now_ns) {
  while (!watched_.empty() && slice_.ledger.complete(watched_.front().number)) {
    watched_.pop_front();
  }
  watched_.push_back({number, now_ns});
}

void Throws::Settle(uint32_t index, Fate fate) {
  const uint64_t number = throws_[senders_[index].first].number;
  ++CounterOf(fate);
  --slice_.counters.in_flight;
  // Abandoned, so that its permit is not freed twice should it be delivered after all.
  if (fate != Fate::kAccepted && slice_.options.mode == Mode::kClosed &&
      slice_.ledger.Abandon(number)) {
    slice_.ScheduleAt(Part::kPermit, 0, NowNs() + kRefusedPauseMs * kNsPerMs);
  }
  RemoveOldest(senders_[index]);
  MakeIdle(index);
}

uint64_t& Throws::CounterOf(Fate fate) {
  Counters& counters = slice_.counters;
  switch (fate) {
    case Fate::kAccepted:
      return counters.accepted;
    case Fate::kRefused:
      return counters.refused;
    case Fate::kUnexpected:
      return counters.unexpected;
    case Fate::kTimedOut:
      return counters.timed_out;
    case Fate::kFailed:
      break;
  }
  return counters.failed;
}

void Throws::RemoveOldest(Sender& sender) {
  const uint32_t at = sender.first;
  Throw& thrown = throws_[at];
  sender.on_wire = false;
  sender.first = thrown.next;
  if (sender.first == kNone) {
    sender.last = kNone;
  }
  --sender.unsettled;
  thrown.next = free_;
  free_ = at;
}

void Throws::MakeIdle(uint32_t index) {
  Sender& sender = senders_[index];
  if (slice_.options.mode == Mode::kClosed && !sender.idle && sender.unsettled == 0) {
    sender.idle = true;
    idle_.push_back(index);
  }
}

void Throws::OnBroken(uint32_t index) {
  Sender& sender = senders_[index];
  if (sender.connection.open() && sender.on_wire) {
    ++slice_.counters.cuts;
  }
  slice_.Close(sender.connection);
  sender.on_wire = false;
  if (sender.first != kNone && throws_[sender.first].tries >= kSendsMax) {
    Settle(index, Fate::kFailed);
  }
  // An idle connection is opened again by the next throw, but the run starts only when every
  // connection has been open once.
  // A socket is opened again by its desktop's poll.
  if (!slice_.has_sockets() && (sender.first != kNone || !sender.opened)) {
    slice_.RetryLater(Part::kSender, index, &sender.tries);
  }
}

void Throws::Sweep(int64_t now_ns) {
  const int64_t timeout_ns = Ns(slice_.options.post_timeout_s);
  const auto count = static_cast<uint32_t>(senders_.size());
  const uint32_t part = sweep_++ % kSweeps;
  for (uint32_t i = ShareBegin(part, kSweeps, count); i < ShareBegin(part + 1, kSweeps, count);
       ++i) {
    Sender& sender = senders_[i];
    if (sender.first == kNone || throws_[sender.first].tries == 0 ||
        now_ns - throws_[sender.first].sent_ns <= timeout_ns) {
      continue;
    }
    Settle(i, Fate::kTimedOut);
    // The response may still come, and would be mistaken for that of the next throw. A message has
    // the number of its throw.
    if (slice_.has_sockets()) {
      SendWaiting(i);
    } else {
      OnBroken(i);
    }
  }
  while (!watched_.empty() && (slice_.ledger.complete(watched_.front().number) ||
                               now_ns - watched_.front().since_ns > timeout_ns)) {
    if (slice_.ledger.Abandon(watched_.front().number)) {
      ++slice_.counters.abandoned;
      FreePermits(1);
    }
    watched_.pop_front();
  }
}

}  // namespace swarm
