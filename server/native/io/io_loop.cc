#include "io/io_loop.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "io/clock.h"
#include "io/off_route.h"
#include "io/socket_calls.h"

namespace sprites {
namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Whether nothing is asked: no request that has come, also only a part of one or one that nobody has
// read, nor the first one, which is to come.
bool IsIdle(const Connection& connection) {
  uint8_t byte;
  return connection.unread == kNoBuffer && !connection.Has(kFresh) &&
         Receive(connection.descriptor, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

// The sooner of two timeouts, where -1 is none.
int Sooner(int one_ms, int other_ms) {
  return one_ms < 0 || (other_ms >= 0 && other_ms < one_ms) ? other_ms : one_ms;
}

}  // namespace

IoLoop::IoLoop(uint32_t thread, SharedState* shared, RecordBuffer* inbound)
    : thread_(thread),
      shared_(shared),
      inbound_(inbound),
      wheel_(&table_, NowMs()),
      acceptor_(shared, &epoll_, &table_),
      reader_(shared->buffer_bytes_max),
      sender_(&epoll_, &wheel_, shared->timeouts.write_ms, shared->buffer_bytes_max) {}

IoLoop::~IoLoop() { CloseAll(); }

int IoLoop::Open() {
  const int error = epoll_.Open();
  return error != 0 ? error : acceptor_.Open();
}

uint32_t IoLoop::Wait(int timeout_ms) {
  if (HasWork()) {
    timeout_ms = 0;
  } else {
    const uint64_t now_ms = NowMs();
    timeout_ms = Sooner(timeout_ms, wheel_.MsUntilNext(now_ms));
    timeout_ms = Sooner(timeout_ms, acceptor_.MsUntilResume(now_ms));
  }
  events_at_ = 0;
  events_count_ = epoll_.Wait(events_, kEventsMax, timeout_ms);
  const uint64_t now_ms = NowMs();
  wheel_.SetNow(now_ms);
  wheel_visits_ = 0;
  acceptor_.ResumeIfDue(now_ms);
  ready_.BeginPass();
  uint32_t externals = 0;
  for (int i = 0; i < events_count_; ++i) {
    if (EpollSet::SourceOf(events_[i]) == EpollSet::Source::kExternal) {
      externals |= 1u << EpollSet::NumberOf(events_[i]);
    }
  }
  return externals;
}

bool IoLoop::Handle() {
  while (ready_.HasNext()) {
    if (!inbound_->HasRoom(kRecordBytesMax)) {
      return true;
    }
    const Index index = ready_.Pop();
    if (table_.At(index).Has(kQueued)) {
      Resume(index);  // otherwise it was closed since
    }
  }
  while (events_at_ < events_count_) {
    if (!inbound_->HasRoom(kRecordBytesMax)) {
      return true;
    }
    HandleEvent(events_[events_at_++]);
  }
  for (;;) {
    if (!inbound_->HasRoom(kRecordBytesMax)) {
      return true;
    }
    const Index index = wheel_.NextExpired(&wheel_visits_);
    if (index == kNoIndex) {
      return false;
    }
    Expire(index, table_.At(index));
  }
}

void IoLoop::HandleEvent(const epoll_event& event) {
  switch (EpollSet::SourceOf(event)) {
    case EpollSet::Source::kConnection:
      HandleConnection(EpollSet::NumberOf(event), event.events);
      break;
    case EpollSet::Source::kListener:
      Accept(EpollSet::NumberOf(event));
      break;
    case EpollSet::Source::kExternal:
      break;
  }
}

void IoLoop::HandleConnection(Index index, uint32_t events) {
  Connection& connection = table_.At(index);
  if (connection.state == State::kFree) {
    return;  // closed earlier in this pass
  }
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
    HandlePeerGone(index, connection);
    return;
  }
  if ((events & EPOLLRDHUP) != 0) {
    connection.Set(kPeerClosed);
  }
  if ((events & (EPOLLIN | EPOLLRDHUP)) != 0) {
    connection.Set(kReadable);
  }
  switch (connection.state) {
    case State::kReading:
      // A queued connection has older bytes, which are handled first.
      if (connection.Has(kReadable) && !connection.Has(kQueued)) {
        Read(index, connection);
      }
      break;
    case State::kWaiting:
      if (IsAbandoned(connection)) {
        HandlePeerGone(index, connection);
      } else {
        ReportIfOutdated(index, connection);
      }
      break;
    case State::kWriting:
      if ((events & EPOLLOUT) != 0) {
        HandleSent(index, connection, sender_.Continue(index, connection));
      }
      break;
    case State::kLingering:
      Discard(index, connection);
      break;
    case State::kFree:
      break;
  }
}

// Returns whether more connections may wait.
bool IoLoop::Accept(uint32_t listener) {
  uint32_t accepts = 0;
  for (;;) {
    const Index index = acceptor_.Accept(listener, &accepts);
    if (index == kNoIndex) {
      return accepts > Acceptor::kAcceptsMax;
    }
    Connection& connection = table_.At(index);
    if (connection.Has(kRefused)) {
      AnswerProblem(
          index, connection,
          connection.Has(kRefusedAddress) ? Problem::kTooManyConnections : Problem::kRelayFull);
    } else {
      connection.Set(kFresh);
      wheel_.Arm(index, shared_->timeouts.request_ms);
    }
  }
}

// Continues with a connection from the ready queue: with the bytes behind its last request, or with
// its end.
void IoLoop::Resume(Index index) {
  Connection& connection = table_.At(index);
  connection.Unset(kQueued);
  if (IsAbandoned(connection)) {
    HandlePeerGone(index, connection);
    return;
  }
  if (connection.state == State::kLingering) {
    Discard(index, connection);
  }
  if (connection.state != State::kReading) {
    return;
  }
  if (connection.unread != kNoBuffer && !connection.Has(kTimed)) {
    HandleBytes(index, connection, reader_.Kept(connection));
  } else if (connection.Has(kReadable)) {
    Read(index, connection);
  }
}

void IoLoop::Expire(Index index, Connection& connection) {
  if (connection.state == State::kReading && connection.unread != kNoBuffer) {
    AnswerProblem(index, connection, Problem::kRequestTimeout);
  } else {
    Close(index, connection);
  }
}

void IoLoop::Read(Index index, Connection& connection) {
  UnreadBytes unread;
  switch (reader_.Read(connection, &unread)) {
    case RequestReader::Got::kBytes:
      HandleBytes(index, connection, unread);
      break;
    case RequestReader::Got::kNothing:
      break;
    case RequestReader::Got::kEnd:
      Close(index, connection);
      break;
    case RequestReader::Got::kNoRoom:
      AnswerProblem(index, connection, Problem::kRelayFull);
      break;
  }
}

// Decides what becomes of the first request in `unread`.
void IoLoop::HandleBytes(Index index, Connection& connection, const UnreadBytes& unread) {
  const Acceptor::Listener& listener = acceptor_.ListenerOf(connection);
  Request request;
  const Parsed parsed =
      ParseRequest(unread.at, unread.size, listener.route, unread.place, &request);
  if (listener.hands_over && IsForNode(listener.route, parsed, unread)) {
    HandOver(index, connection, unread);
    return;
  }
  switch (parsed) {
    case Parsed::kPoll:
      AppendPoll(inbound_, NextTicket(index, connection), request);
      AwaitAnswer(index, connection, request);
      KeepRest(index, connection, unread, request);
      ReportIfOutdated(index, connection);
      break;
    case Parsed::kCrossing:
      AppendCrossing(inbound_, NextTicket(index, connection), request,
                     unread.at + request.body_start);
      AwaitAnswer(index, connection, request);
      KeepRest(index, connection, unread, request);
      break;
    case Parsed::kPartial:
      KeepPartial(index, connection, unread, request.expects_continue);
      break;
    case Parsed::kOther:
    case Parsed::kBadCursor:
      AnswerOffRoute(index, connection, unread, parsed, request);
      break;
    case Parsed::kChunked:
    case Parsed::kMalformed:
      AnswerProblem(index, connection, Problem::kMalformed);
      break;
    case Parsed::kTooLarge:
      AnswerProblem(index, connection, Problem::kTooLarge);
      break;
    case Parsed::kHeadTooLarge:
      AnswerProblem(index, connection, Problem::kHeadTooLarge);
      break;
  }
}

// Keeps a request that is not whole, and waits for the rest of it.
void IoLoop::KeepPartial(Index index, Connection& connection, const UnreadBytes& unread,
                         bool expects_continue) {
  if (!reader_.KeepPartial(connection, unread)) {
    AnswerProblem(index, connection, Problem::kRelayFull);
    return;
  }
  if (!connection.Has(kTimed)) {
    connection.Set(kTimed);
    wheel_.Arm(index, shared_->timeouts.request_ms);
  }
  if (expects_continue && !connection.Has(kContinueSent)) {
    connection.Set(kContinueSent);
    sprites::Send(connection.descriptor, kContinue.data(), kContinue.size());
  }
  if (connection.Has(kReadable)) {
    MarkReady(index, connection);
  }
}

// Keeps the bytes behind a whole request until that request is answered.
void IoLoop::KeepRest(Index index, Connection& connection, const UnreadBytes& unread,
                      const Request& request) {
  if (!reader_.KeepFrom(request.bytes, connection, unread)) {
    // No room for a client that does not wait for its answers: the connection closes after this
    // one.
    connection.Set(kCloseAfter);
    connection.Set(kLinger);
    return;
  }
  if (connection.state == State::kReading && connection.unread != kNoBuffer) {
    MarkReady(index, connection);
  }
}

// Gives the connection to Node: its descriptor, and the bytes that were read from it. It stays
// counted until JavaScript reports its end.
void IoLoop::HandOver(Index index, Connection& connection, const UnreadBytes& unread) {
  AppendHandover(inbound_, connection.descriptor, acceptor_.Release(index),
                 acceptor_.ListenerOf(connection).number, unread.at, unread.size);
  epoll_.Remove(connection.descriptor);
  Release(index, connection);
}

Ticket IoLoop::NextTicket(Index index, Connection& connection) const {
  connection.generation = (connection.generation + 1) & kGenerationMask;
  return {thread_, index, connection.generation};
}

// The request has gone to JavaScript; the connection waits for its answer.
void IoLoop::AwaitAnswer(Index index, Connection& connection, const Request& request) {
  connection.state = State::kWaiting;
  connection.slot = request.slot;
  connection.Unset(kContinueSent);
  connection.Unset(kTimed);
  connection.Unset(kOutdated);
  if (!request.keep_alive) {
    connection.Set(kCloseAfter);
  }
  if (request.is_http10) {
    connection.Set(kHttp10);
  }
  wheel_.Disarm(index);
  waiting_.store(waiting_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  // The peer closed its half right after the poll: JavaScript has this turn to answer, then the
  // connection counts as gone.
  if (IsAbandoned(connection)) {
    MarkReady(index, connection);
  }
}

// True when the client of a parked poll has closed its half: it has gone, as far as one can tell,
// and a sprite must not be sent to it. A crossing is answered soon, and its client waits for the
// answer.
bool IoLoop::IsAbandoned(const Connection& connection) const {
  return connection.state == State::kWaiting && connection.Has(kPeerClosed) &&
         acceptor_.ListenerOf(connection).route == Route::kEvents;
}

void IoLoop::EndWaiting() {
  waiting_.store(waiting_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

// A client that sends more while its poll is parked has a newer request (unless the poll was to be
// its last). Reports that to JavaScript, once; JavaScript then answers the poll, since answers
// leave in the order of their requests.
void IoLoop::ReportIfOutdated(Index index, Connection& connection) {
  if (connection.state != State::kWaiting || connection.Has(kOutdated) ||
      connection.Has(kCloseAfter) || acceptor_.ListenerOf(connection).route != Route::kEvents) {
    return;
  }
  if (connection.unread == kNoBuffer) {
    uint8_t byte;
    if (!connection.Has(kReadable) ||
        recv(connection.descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0) {
      return;
    }
  }
  connection.Set(kOutdated);
  AppendNotice(inbound_, RecordKind::kOutdated, {thread_, index, connection.generation},
               connection.slot);
}

void IoLoop::Answer(uint8_t* record, SharedBody shared) {
  OutboundRecord head;
  memcpy(&head, record, sizeof head);
  const Ticket ticket =
      Ticket::Unpack(static_cast<uint64_t>(head.ticket_high) << 32 | head.ticket_low);
  if (ticket.index >= table_.size()) {
    return;
  }
  Connection& connection = table_.At(ticket.index);
  if (connection.state != State::kWaiting || connection.generation != ticket.generation) {
    return;
  }
  EndWaiting();
  connection.state = State::kReading;
  connection.unsent = 0;
  connection.Unset(kOutdated);
  if (draining_) {
    connection.Set(kCloseAfter);
  }
  if (connection.Has(kReadable) || connection.unread != kNoBuffer) {
    connection.Set(kLinger);
  }
  if (head.shares == 0) {
    shared = {};
  }
  uint8_t* const body = record + head.start;
  const uint32_t head_bytes =
      WriteHeadBefore(body, {head.status, head.length + shared.size, head.retry_after_seconds,
                             PersistenceOf(connection)});
  Send(ticket.index, connection, body - head_bytes, head_bytes + head.length, shared);
}

// Answers a well-formed request that JavaScript never sees.
void IoLoop::AnswerOffRoute(Index index, Connection& connection, const UnreadBytes& unread,
                            Parsed parsed, const Request& request) {
  connection.Unset(kTimed);
  connection.Unset(kFresh);
  connection.Unset(kContinueSent);
  if (request.is_http10) {
    connection.Set(kHttp10);
  }
  if (!request.keep_alive) {
    connection.Set(kCloseAfter);
  }
  // The body of a poll has been read. Any other body is not worth reading.
  if (request.has_body && parsed == Parsed::kOther) {
    connection.Set(kCloseAfter);
    connection.Set(kLinger);
  }
  const std::string answer = OffRouteAnswer(acceptor_.ListenerOf(connection).route, parsed, request,
                                            PersistenceOf(connection), *shared_);
  // Before Send(), which may close the connection.
  KeepRest(index, connection, unread, request);
  Send(index, connection, reinterpret_cast<const uint8_t*>(answer.data()),
       static_cast<uint32_t>(answer.size()));
}

// Refuses a request. The connection closes after the answer.
void IoLoop::AnswerProblem(Index index, Connection& connection, Problem problem) {
  connection.Set(kCloseAfter);
  connection.Set(kLinger);
  reader_.Release(connection);
  const std::string answer =
      ProblemAnswer(shared_->BodyOf(problem), Persistence::kClose, false, nullptr);
  Send(index, connection, reinterpret_cast<const uint8_t*>(answer.data()),
       static_cast<uint32_t>(answer.size()));
}

Persistence IoLoop::PersistenceOf(const Connection& connection) const {
  if (connection.Has(kCloseAfter)) {
    return Persistence::kClose;
  }
  return connection.Has(kHttp10) ? Persistence::kKeepAlive : Persistence::kImplied;
}

// Sends a whole answer, or what the socket accepts of it now.
void IoLoop::Send(Index index, Connection& connection, const uint8_t* bytes, uint32_t size,
                  SharedBody shared) {
  HandleSent(index, connection, sender_.Send(index, connection, bytes, size, shared));
}

// After a whole answer the connection closes, continues with what its client has already sent, or
// is idle.
void IoLoop::HandleSent(Index index, Connection& connection, AnswerSender::Sent sent) {
  if (sent == AnswerSender::Sent::kPartly) {
    return;
  }
  if (sent == AnswerSender::Sent::kFailed) {
    Close(index, connection);
    return;
  }
  connection.state = State::kReading;
  if (connection.Has(kCloseAfter) || draining_) {
    if (connection.Has(kLinger)) {
      Linger(index, connection);
    } else {
      Close(index, connection);
    }
    return;
  }
  connection.Unset(kHttp10);
  connection.Unset(kLinger);
  wheel_.ArmLongest(index, shared_->timeouts.idle_ms);
  if (connection.unread != kNoBuffer || connection.Has(kReadable)) {
    MarkReady(index, connection);
  }
}

// Closing a socket with unread bytes resets it, and the peer loses the answer. So this closes our
// half only and waits until the peer closes too.
void IoLoop::Linger(Index index, Connection& connection) {
  shutdown(connection.descriptor, SHUT_WR);
  connection.state = State::kLingering;
  connection.Set(kReadable);
  reader_.Release(connection);
  wheel_.Arm(index, shared_->timeouts.linger_ms);
  Discard(index, connection);
}

// Discards what the peer still sends. The deadline, which does not move, ends a peer that never
// stops sending.
void IoLoop::Discard(Index index, Connection& connection) {
  const RequestReader::Got got = reader_.Discard(connection);
  if (got == RequestReader::Got::kEnd) {
    Close(index, connection);
  } else if (got == RequestReader::Got::kBytes) {
    MarkReady(index, connection);
  }
}

void IoLoop::MarkReady(Index index, Connection& connection) {
  if (connection.Has(kQueued)) {
    return;
  }
  connection.Set(kQueued);
  ready_.Push(index);
}

// Closes a connection whose peer is gone, and reports its ticket if one is out.
void IoLoop::HandlePeerGone(Index index, Connection& connection) {
  if (connection.state == State::kWaiting) {
    EndWaiting();
    AppendNotice(inbound_, RecordKind::kClosed, {thread_, index, connection.generation},
                 connection.slot);
  }
  Close(index, connection);
}

void IoLoop::Close(Index index, Connection& connection) {
  acceptor_.Close(index, connection);
  sender_.Release(connection);
  Release(index, connection);
}

// Frees the record and all that it holds, except the descriptor and its place in the count.
void IoLoop::Release(Index index, Connection& connection) {
  reader_.Release(connection);
  wheel_.Unlink(index);
  table_.Release(index);
}

void IoLoop::Drain() {
  const bool is_again = draining_;
  draining_ = true;
  for (Index index = 0; index < table_.size(); ++index) {
    Connection& connection = table_.At(index);
    if (connection.state == State::kReading && (is_again || IsIdle(connection))) {
      Close(index, connection);
    }
    if (connection.state == State::kWriting) {
      connection.Set(kCloseAfter);
    }
  }
  // Those that wait are connected for their clients, and would be reset with the listener.
  for (uint32_t listener = 0; listener < acceptor_.listeners(); ++listener) {
    for (uint32_t more = kBacklog; Accept(listener) && more > 0;) {
      more -= Acceptor::kAcceptsMax;
    }
  }
  StopListening();
}

void IoLoop::CloseAll() {
  StopListening();
  for (Index index = 0; index < table_.size(); ++index) {
    Connection& connection = table_.At(index);
    if (connection.state != State::kFree) {
      Close(index, connection);
    }
  }
  table_.EndPass();
  ready_.Clear();
  events_at_ = events_count_ = 0;
  waiting_.store(0, std::memory_order_relaxed);
}

}  // namespace sprites
