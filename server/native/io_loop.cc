#include "io_loop.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iterator>

namespace sprites {
namespace {

// What an epoll event belongs to, in the upper half of its data; the lower half is an index.
enum Source : uint64_t { kConnection = 0, kListener = 1, kOutsider = 2 };

uint64_t Tag(Source source, uint32_t index) { return source << 32 | index; }

// The three calls of every request, without the cancellation points of libc: in a process with
// threads each costs two atomic operations, and nobody cancels a thread here.
ssize_t Receive(int descriptor, void* to, size_t size, int flags) {
  return syscall(SYS_recvfrom, descriptor, to, size, flags, nullptr, nullptr);
}

ssize_t Send(int descriptor, const void* from, size_t size) {
  return syscall(SYS_sendto, descriptor, from, size, MSG_NOSIGNAL | MSG_DONTWAIT, nullptr, 0);
}

int WaitForEvents(int epoll, epoll_event* events, int count, int timeout_ms) {
  return static_cast<int>(syscall(SYS_epoll_pwait, epoll, events, count, timeout_ms, nullptr, 0));
}

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr const char* kAllowed[] = {"GET, OPTIONS", "POST, OPTIONS"};

}  // namespace

uint64_t NowMs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

IoLoop::IoLoop(uint32_t thread, Commons* commons, RecordBuffer* inbound)
    : thread_(thread),
      commons_(commons),
      inbound_(inbound),
      wheel_(&table_, NowMs()),
      requests_(commons->buffer_bytes_max),
      unsent_(commons->buffer_bytes_max) {}

IoLoop::~IoLoop() {
  CloseAll();
  if (reserve_ >= 0) {
    close(reserve_);
  }
  if (epoll_ >= 0) {
    close(epoll_);
  }
}

int IoLoop::Open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) {
    return errno;
  }
  reserve_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  return reserve_ < 0 ? errno : 0;
}

int IoLoop::AddListener(int descriptor, const ListenerOptions& options, uint8_t number) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = Tag(kListener, static_cast<uint32_t>(listening_.size()));
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    return errno;
  }
  listening_.push_back({descriptor, options.route, options.hands_over, number});
  return 0;
}

int IoLoop::AddOutsider(int descriptor, uint32_t number, uint32_t extra_events) {
  epoll_event event = {};
  event.events = EPOLLIN | extra_events;
  event.data.u64 = Tag(kOutsider, number);
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0 ? 0 : errno;
}

void IoLoop::RemoveOutsider(int descriptor) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
}

uint32_t IoLoop::Wait(int timeout_ms) {
  if (HasWork()) {
    timeout_ms = 0;
  } else {
    const uint64_t now_ms = NowMs();
    int own_ms = wheel_.MsUntilNext(now_ms);
    if (own_ms >= 0 && (timeout_ms < 0 || own_ms < timeout_ms)) {
      timeout_ms = own_ms;
    }
    if (rests_until_ms_ != 0) {
      own_ms = static_cast<int>(rests_until_ms_ - std::min(now_ms, rests_until_ms_)) + 1;
      timeout_ms = timeout_ms < 0 ? own_ms : std::min(timeout_ms, own_ms);
    }
  }
  events_at_ = 0;
  events_count_ = std::max(0, WaitForEvents(epoll_, events_, kEventsMax, timeout_ms));
  const uint64_t now_ms = NowMs();
  wheel_.SetNow(now_ms);
  wheel_visits_ = 0;
  if (rests_until_ms_ != 0 && now_ms >= rests_until_ms_) {
    ListenAgain();
  }
  queue_end_ = queue_.size();  // what is queued from now on waits for the next pass: one request a
                               // connection and pass
  uint32_t outsiders = 0;
  for (int i = 0; i < events_count_; ++i) {
    const uint64_t tag = events_[i].data.u64;
    if (tag >> 32 == kOutsider) {
      outsiders |= 1u << static_cast<uint32_t>(tag);
    }
  }
  return outsiders;
}

bool IoLoop::Handle() {
  while (queue_at_ < queue_end_) {
    if (!inbound_->HasRoom(kRecordBytesMax)) {
      return true;
    }
    const Index index = queue_[queue_at_++];
    if (table_.At(index).Has(kQueued)) {
      Resume(index);  // else it was closed, or served by an event since
    }
  }
  if (queue_at_ > 0) {
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(queue_at_));
    queue_at_ = queue_end_ = 0;
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
  const uint64_t source = event.data.u64 >> 32;
  const uint32_t index = static_cast<uint32_t>(event.data.u64);
  if (source == kOutsider) {
    return;
  }
  if (source == kListener) {
    if (listening_[index].descriptor >= 0) {
      Accept(listening_[index]);
    }
    return;
  }
  Connection& connection = table_.At(index);
  if (connection.state == State::kFree) {
    return;  // closed earlier in this pass
  }
  if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) {
    Gone(index, connection);
    return;
  }
  if ((event.events & EPOLLRDHUP) != 0) {
    connection.Set(kPeerClosed);
  }
  if ((event.events & (EPOLLIN | EPOLLRDHUP)) != 0) {
    connection.Set(kReadable);
  }
  switch (connection.state) {
    case State::kReading:
      // What is queued has bytes to look at first.
      if (connection.Has(kReadable) && !connection.Has(kQueued)) {
        Read(index, connection);
      }
      break;
    case State::kWaiting:
      if (connection.Has(kPeerClosed)) {
        Gone(index, connection);
      } else {
        TellIfOutdated(index, connection);
      }
      break;
    case State::kWriting:
      if ((event.events & EPOLLOUT) != 0) {
        WriteOn(index, connection);
      }
      break;
    case State::kLingering:
      Discard(index, connection);
      break;
    case State::kFree:
      break;
  }
}

void IoLoop::Accept(const Listening& listening) {
  for (int accepted = 0; accepted < kAcceptsMax; ++accepted) {
    const int descriptor =
        accept4(listening.descriptor, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
      const int error = errno;
      if (error == EAGAIN ||
          ((error == EMFILE || error == ENFILE) && AcceptWithReserve(listening))) {
        return;
      }
      // accept(2): what the network did to a connection that is over already is told here.
      constexpr int kOver[] = {EINTR,     ECONNABORTED, ENETDOWN,     EPROTO,     ENOPROTOOPT,
                               EHOSTDOWN, ENONET,       EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH};
      if (std::find(std::begin(kOver), std::end(kOver), error) == std::end(kOver)) {
        RestFromAccepting();
        return;
      }
      continue;
    }
    const uint8_t listener = static_cast<uint8_t>(&listening - listening_.data());
    if (commons_->connections.fetch_add(1, std::memory_order_relaxed) >=
        commons_->connections_max) {
      commons_->connections.fetch_sub(1, std::memory_order_relaxed);
      Refuse(descriptor, listener);
      continue;
    }
    const Index index = table_.Take(descriptor);
    epoll_event event = {};
    event.events = kEvents;
    event.data.u64 = Tag(kConnection, index);
    if (index == kNoIndex || epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
      if (index != kNoIndex) {
        table_.Release(index);
      }
      commons_->connections.fetch_sub(1, std::memory_order_relaxed);
      commons_->refused.fetch_add(1, std::memory_order_relaxed);
      close(descriptor);
      continue;
    }
    table_.At(index).listener = listener;
    wheel_.Arm(index, commons_->patience.request_ms);
  }
}

// No descriptor is left: one is kept back for this, so that whoever knocks is told instead of left
// to hang. False when not even that one can be had (the limit was lowered, or somebody else took
// it).
bool IoLoop::AcceptWithReserve(const Listening& listening) {
  const ProblemBody& problem = BodyOf(Problem::kRelayFull);
  const std::string answer = ProblemAnswer(problem, Persistence::kClose, false, nullptr);
  if (reserve_ >= 0) {
    close(reserve_);
  }
  for (int refused = 0; refused < kAcceptsMax; ++refused) {
    const int descriptor =
        accept4(listening.descriptor, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
      break;
    }
    commons_->refused.fetch_add(1, std::memory_order_relaxed);
    // What has come of the request is read away first: closing on unread bytes would reset the
    // answer.
    while (Receive(descriptor, scratch_, sizeof scratch_, MSG_DONTWAIT) > 0) {
    }
    Send(descriptor, answer.data(), answer.size());
    close(descriptor);
  }
  reserve_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  return reserve_ >= 0;
}

// Who knocks waits in the backlog. An epoll set would tell of them again and again, and nothing
// could be done.
void IoLoop::RestFromAccepting() {
  rests_until_ms_ = NowMs() + kAcceptRestMs;
  WatchListeners(0);
}

void IoLoop::ListenAgain() {
  rests_until_ms_ = 0;
  WatchListeners(EPOLLIN);
}

void IoLoop::WatchListeners(uint32_t events) {
  for (uint32_t number = 0; number < listening_.size(); ++number) {
    epoll_event event = {};
    event.events = events;
    event.data.u64 = Tag(kListener, number);
    if (listening_[number].descriptor >= 0) {
      epoll_ctl(epoll_, EPOLL_CTL_MOD, listening_[number].descriptor, &event);
    }
  }
}

void IoLoop::Refuse(int descriptor, uint8_t listener) {
  commons_->refused.fetch_add(1, std::memory_order_relaxed);
  const Index index =
      lingering_refused_ < kLingeringRefusedMax ? table_.Take(descriptor) : kNoIndex;
  epoll_event event = {};
  event.events = kEvents;
  event.data.u64 = Tag(kConnection, index);
  if (index == kNoIndex || epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    if (index != kNoIndex) {
      table_.Release(index);
    }
    close(descriptor);
    return;
  }
  ++lingering_refused_;
  Connection& connection = table_.At(index);
  connection.listener = listener;
  connection.Set(kRefused);
  AnswerProblem(index, connection, Problem::kRelayFull);
}

// Goes on with a connection that was queued: what stands behind its last request, or the end of it.
void IoLoop::Resume(Index index) {
  Connection& connection = table_.At(index);
  connection.Unset(kQueued);
  if (connection.state == State::kWaiting && connection.Has(kPeerClosed)) {
    Gone(index, connection);
    return;
  }
  if (connection.state == State::kLingering) {
    Discard(index, connection);
  }
  if (connection.state != State::kReading) {
    return;
  }
  if (connection.unread != kNoBuffer && !connection.Has(kTimed)) {
    RequestBuffer* buffer = requests_.At(connection.unread);
    Consume(index, connection, buffer->bytes(), buffer->size, &buffer->place);
  } else if (connection.Has(kReadable)) {
    Read(index, connection);
  }
}

void IoLoop::Read(Index index, Connection& connection) {
  uint8_t* into = scratch_;
  uint32_t room = sizeof scratch_;
  RequestBuffer* buffer = nullptr;
  if (connection.unread != kNoBuffer) {
    buffer = requests_.At(connection.unread);
    if (buffer->size == buffer->capacity) {
      const BufferHandle larger = requests_.Grow(connection.unread, kRequestBytesMax);
      if (larger == kNoBuffer) {
        AnswerProblem(index, connection, Problem::kRelayFull);
        return;
      }
      connection.unread = larger;
      buffer = requests_.At(larger);
    }
    into = buffer->bytes() + buffer->size;
    room = buffer->capacity - buffer->size;
  }
  const ssize_t got = Receive(connection.descriptor, into, room, MSG_DONTWAIT);
  if (got < 0) {
    if (errno == EAGAIN || errno == EINTR) {
      connection.Unset(kReadable);
    } else {
      Close(index, connection);
    }
    return;
  }
  if (got == 0) {
    Close(index, connection);
    return;
  }
  // Fewer bytes than there was room for: the socket is empty, and the next byte (or the end) makes
  // a new edge.
  if (static_cast<uint32_t>(got) < room && !connection.Has(kPeerClosed)) {
    connection.Unset(kReadable);
  }
  if (buffer != nullptr) {
    buffer->size += static_cast<uint32_t>(got);
    Consume(index, connection, buffer->bytes(), buffer->size, &buffer->place);
  } else {
    ParserPlace place = {};
    Consume(index, connection, scratch_, static_cast<uint32_t>(got), &place);
  }
}

void IoLoop::Consume(Index index, Connection& connection, const uint8_t* bytes, uint32_t size,
                     ParserPlace* place) {
  const Listening& listening = ListeningOf(connection);
  Request request;
  const Parsed parsed = ParseRequest(bytes, size, listening.route, place, &request);
  switch (parsed) {
    case Parsed::kPartial:
      if (listening.hands_over && !MayBecomeHot(bytes, size, listening.route)) {
        HandOver(index, connection, bytes, size);
      } else {
        Partial(index, connection, bytes, size, *place, request.expects_continue);
      }
      return;
    case Parsed::kPoll:
      Emit(index, connection, RecordKind::kPoll, bytes, request);
      KeepRest(index, connection, bytes + request.bytes, size - request.bytes);
      TellIfOutdated(index, connection);
      return;
    case Parsed::kCrossing:
      Emit(index, connection, RecordKind::kCrossing, bytes, request);
      KeepRest(index, connection, bytes + request.bytes, size - request.bytes);
      return;
    case Parsed::kOther:
    case Parsed::kBadCursor:
      if (listening.hands_over && parsed == Parsed::kOther) {
        HandOver(index, connection, bytes, size);
      } else {
        AnswerOther(index, connection, bytes, size, parsed, request);
      }
      return;
    case Parsed::kChunked:
      if (listening.hands_over) {
        HandOver(index, connection, bytes, size);
      } else {
        AnswerProblem(index, connection, Problem::kMalformed);
      }
      return;
    case Parsed::kMalformed:
      if (listening.hands_over && !MayBecomeHot(bytes, size, listening.route)) {
        HandOver(index, connection, bytes, size);
      } else {
        AnswerProblem(index, connection, Problem::kMalformed);
      }
      return;
    case Parsed::kTooLarge:
      AnswerProblem(index, connection, Problem::kTooLarge);
      return;
    case Parsed::kHeadTooLarge:
      AnswerProblem(index, connection, Problem::kHeadTooLarge);
      return;
  }
}

// The request is not whole. Its bytes move to a buffer of their own, unless they are in one
// already.
void IoLoop::Partial(Index index, Connection& connection, const uint8_t* bytes, uint32_t size,
                     const ParserPlace& place, bool expects_continue) {
  if (connection.unread == kNoBuffer) {
    const uint32_t capacity = std::max(size + 1, place.needed);
    connection.unread = requests_.Take(std::min(capacity, kRequestBytesMax));
    if (connection.unread == kNoBuffer) {
      AnswerProblem(index, connection, Problem::kRelayFull);
      return;
    }
    RequestBuffer* buffer = requests_.At(connection.unread);
    memcpy(buffer->bytes(), bytes, size);
    buffer->size = size;
    buffer->place = place;
  }
  if (!connection.Has(kTimed)) {
    connection.Set(kTimed);
    wheel_.Arm(index, commons_->patience.request_ms);
  }
  if (expects_continue && !connection.Has(kContinueSent)) {
    connection.Set(kContinueSent);
    Send(connection.descriptor, kContinue.data(), kContinue.size());
  }
  if (connection.Has(kReadable)) {
    Queue(index, connection);
  }
}

// A whole request goes to JavaScript; from now on the connection waits.
void IoLoop::Emit(Index index, Connection& connection, RecordKind kind, const uint8_t* bytes,
                  const Request& request) {
  connection.generation = (connection.generation + 1) & kGenerationMask;
  const uint64_t ticket = Ticket{thread_, index, connection.generation}.Pack();
  InboundRecord record = {};
  record.kind = kind;
  record.ticket_low = static_cast<uint32_t>(ticket);
  record.ticket_high = static_cast<uint32_t>(ticket >> 32);
  record.slot = request.slot;
  record.generation = request.generation;
  memcpy(record.token, request.token, sizeof record.token);
  if (kind == RecordKind::kCrossing) {
    AppendCrossing(&record, bytes + request.body_start, request.body_length);
  } else {
    if (request.has_cursor) {
      record.length = 1;
      record.epoch = request.epoch;
      record.seq = request.seq;
    }
    record.bytes = kInboundHeadBytes;
    memcpy(inbound_->Extend(record.bytes), &record, kInboundHeadBytes);
  }
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
  // The peer's end came with its request: JavaScript gets this turn to answer, then the connection
  // counts as gone.
  if (connection.Has(kPeerClosed)) {
    Queue(index, connection);
  }
}

// Appends a crossing's record: with its passage, when its body is of the usual form; else
// JavaScript looks at the body.
void IoLoop::AppendCrossing(InboundRecord* record, const uint8_t* body, uint32_t length) {
  ScannedCrossing scanned;
  uint8_t entry[kEntryBytesMax];
  uint32_t entry_bytes = 0;
  if (ScanCrossing(body, length, &scanned)) {
    record->crossing_low = static_cast<uint32_t>(scanned.crossing);
    record->crossing_high = static_cast<uint32_t>(scanned.crossing >> 32);
    record->edge_and_one = scanned.edge + 1;
    entry_bytes = WriteEntry(scanned.edge, entry);
    body += scanned.passage_start;
    length -= scanned.passage_start;
  }
  record->length = entry_bytes + length;
  record->bytes = AlignedToEight(kInboundHeadBytes + record->length);
  uint8_t* at = inbound_->Extend(record->bytes);
  memcpy(at, record, kInboundHeadBytes);
  at += kInboundHeadBytes;
  memcpy(at, entry, entry_bytes);
  if (length != 0) {
    memcpy(at + entry_bytes, body, length);
  }
}

// Keeps the bytes behind a whole request until that one is answered; they may lie in the
// connection's own buffer.
void IoLoop::KeepRest(Index index, Connection& connection, const uint8_t* bytes, uint32_t size) {
  if (connection.unread == kNoBuffer) {
    if (size == 0) {
      return;
    }
    connection.unread = requests_.Take(size);
    if (connection.unread == kNoBuffer) {
      // No room for a client that does not wait for its answers: this one is its last.
      connection.Set(kCloseAfter);
      connection.Set(kLinger);
      return;
    }
    RequestBuffer* buffer = requests_.At(connection.unread);
    memcpy(buffer->bytes(), bytes, size);
    buffer->size = size;
  } else if (size == 0) {
    requests_.Release(connection.unread);
    connection.unread = kNoBuffer;
  } else {
    RequestBuffer* buffer = requests_.At(connection.unread);
    memmove(buffer->bytes(), bytes, size);
    buffer->size = size;
    buffer->place = {};
  }
  if (connection.state == State::kReading && connection.unread != kNoBuffer) {
    Queue(index, connection);
  }
}

// Who sends more behind a poll that is held asks something newer (unless that was to be the last):
// JavaScript is told, once, and answers the poll, since answers leave in the order of their
// requests.
void IoLoop::TellIfOutdated(Index index, Connection& connection) {
  if (connection.state != State::kWaiting || connection.Has(kOutdated) ||
      connection.Has(kCloseAfter) || ListeningOf(connection).route != Route::kEvents) {
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
  Tell(RecordKind::kOutdated, index, connection);
}

// Appends a record that is nothing but a ticket and its slot. REQUIRES: the connection waits.
void IoLoop::Tell(RecordKind kind, Index index, const Connection& connection) {
  const uint64_t ticket = Ticket{thread_, index, connection.generation}.Pack();
  const uint32_t words[kClosedBytes / 4] = {
      static_cast<uint32_t>(kind),         kClosedBytes,    static_cast<uint32_t>(ticket),
      static_cast<uint32_t>(ticket >> 32), connection.slot, 0};
  memcpy(inbound_->Extend(kClosedBytes), words, sizeof words);
}

// Not ours: Node gets the descriptor and the bytes that were read from it. Still counted until
// JavaScript says it ended.
void IoLoop::HandOver(Index index, Connection& connection, const uint8_t* bytes, uint32_t size) {
  InboundRecord record = {};
  record.kind = RecordKind::kHandover;
  record.bytes = AlignedToEight(kInboundHeadBytes + size);
  record.length = size;
  record.descriptor = static_cast<uint32_t>(connection.descriptor);
  record.listener = ListeningOf(connection).number;
  uint8_t* at = inbound_->Extend(record.bytes);
  memcpy(at, &record, kInboundHeadBytes);
  memcpy(at + kInboundHeadBytes, bytes, size);
  epoll_ctl(epoll_, EPOLL_CTL_DEL, connection.descriptor, nullptr);
  Forget(index, connection);
}

// A well-formed request that nobody but this loop will answer.
void IoLoop::AnswerOther(Index index, Connection& connection, const uint8_t* bytes, uint32_t size,
                         Parsed parsed, const Request& request) {
  connection.Unset(kTimed);
  connection.Unset(kContinueSent);
  if (request.is_http10) {
    connection.Set(kHttp10);
  }
  if (!request.keep_alive) {
    connection.Set(kCloseAfter);
  }
  // A poll's body has been read; any other one is not worth reading.
  if (request.has_body && parsed == Parsed::kOther) {
    connection.Set(kCloseAfter);
    connection.Set(kLinger);
  }
  const Persistence persistence = PersistenceOf(connection);
  std::string answer;
  if (parsed == Parsed::kBadCursor) {
    answer = ProblemAnswer(BodyOf(Problem::kCursor), persistence, false, nullptr);
  } else if (request.is_options) {
    answer = PreflightAnswer(persistence);
  } else {
    const Problem problem = request.is_known_path ? Problem::kMethodNotAllowed : Problem::kNotFound;
    const char* allow = request.is_known_path
                            ? kAllowed[static_cast<size_t>(ListeningOf(connection).route)]
                            : nullptr;
    answer = ProblemAnswer(BodyOf(problem), persistence, request.is_head, allow);
  }
  // The bytes behind it first: Write() may close the connection.
  KeepRest(index, connection, bytes + request.bytes, size - request.bytes);
  Write(index, connection, reinterpret_cast<const uint8_t*>(answer.data()),
        static_cast<uint32_t>(answer.size()));
}

// The front's own refusal, after which the connection closes.
void IoLoop::AnswerProblem(Index index, Connection& connection, Problem problem) {
  connection.Set(kCloseAfter);
  connection.Set(kLinger);
  if (connection.unread != kNoBuffer) {
    requests_.Release(connection.unread);
    connection.unread = kNoBuffer;
  }
  const std::string answer = ProblemAnswer(BodyOf(problem), Persistence::kClose, false, nullptr);
  Write(index, connection, reinterpret_cast<const uint8_t*>(answer.data()),
        static_cast<uint32_t>(answer.size()));
}

void IoLoop::Answer(uint8_t* record) {
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
  waiting_.store(waiting_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  connection.state = State::kReading;
  connection.unsent = 0;
  if (draining_) {
    connection.Set(kCloseAfter);
  }
  if (connection.Has(kReadable) || connection.unread != kNoBuffer) {
    connection.Set(kLinger);
  }
  uint8_t* const body = record + head.start;
  const uint32_t head_bytes = WriteHeadBefore(
      body, {head.status, head.length, head.retry_after_seconds, PersistenceOf(connection)});
  Write(ticket.index, connection, body - head_bytes, head_bytes + head.length);
}

Persistence IoLoop::PersistenceOf(const Connection& connection) const {
  if (connection.Has(kCloseAfter)) {
    return Persistence::kClose;
  }
  return connection.Has(kHttp10) ? Persistence::kKeepAlive : Persistence::kImplied;
}

// Sends a whole answer, or what the socket takes of it now.
void IoLoop::Write(Index index, Connection& connection, const uint8_t* bytes, uint32_t size) {
  ssize_t sent = Send(connection.descriptor, bytes, size);
  if (sent == static_cast<ssize_t>(size)) {
    Written(index, connection);
    return;
  }
  if (sent < 0) {
    if (errno != EAGAIN && errno != EINTR) {
      Close(index, connection);
      return;
    }
    sent = 0;
  }
  const uint32_t rest = unsent_.Keep(bytes + sent, size - static_cast<uint32_t>(sent));
  epoll_event event = {};
  event.events = kEvents | EPOLLOUT;
  event.data.u64 = Tag(kConnection, index);
  if (rest == 0 || epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.descriptor, &event) != 0) {
    if (rest != 0) {
      unsent_.Release(rest);
    }
    Close(index, connection);
    return;
  }
  connection.state = State::kWriting;
  connection.unsent = rest;
  wheel_.Arm(index, commons_->patience.write_ms);
}

void IoLoop::WriteOn(Index index, Connection& connection) {
  UnsentAnswers::Rest& rest = unsent_.At(connection.unsent);
  while (rest.sent < rest.size) {
    const ssize_t sent =
        Send(connection.descriptor, rest.bytes.get() + rest.sent, rest.size - rest.sent);
    if (sent < 0) {
      if (errno == EINTR) {
        continue;
      }
      if (errno != EAGAIN) {
        Close(index, connection);
      }
      return;
    }
    rest.sent += static_cast<uint32_t>(sent);
    wheel_.Arm(index, commons_->patience.write_ms);
  }
  unsent_.Release(connection.unsent);
  connection.unsent = 0;
  epoll_event event = {};
  event.events = kEvents;
  event.data.u64 = Tag(kConnection, index);
  epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.descriptor, &event);
  connection.state = State::kReading;
  Written(index, connection);
}

// An answer is out: the connection closes, goes on with what it has already sent, or is idle.
void IoLoop::Written(Index index, Connection& connection) {
  connection.state = State::kReading;
  if (connection.Has(kCloseAfter) || draining_) {
    if (connection.Has(kLinger) && !connection.Has(kPeerClosed)) {
      Linger(index, connection);
    } else {
      Close(index, connection);
    }
    return;
  }
  connection.Unset(kHttp10);
  connection.Unset(kLinger);
  wheel_.ArmLongest(index, commons_->patience.idle_ms);
  if (connection.unread != kNoBuffer || connection.Has(kReadable)) {
    Queue(index, connection);
  }
}

// Closing a socket with unread bytes resets it, and the peer loses the answer: close our half, and
// wait for its end.
void IoLoop::Linger(Index index, Connection& connection) {
  shutdown(connection.descriptor, SHUT_WR);
  connection.state = State::kLingering;
  connection.Set(kReadable);
  if (connection.unread != kNoBuffer) {
    requests_.Release(connection.unread);
    connection.unread = kNoBuffer;
  }
  wheel_.Arm(index, commons_->patience.linger_ms);
  Discard(index, connection);
}

void IoLoop::Discard(Index index, Connection& connection) {
  // MSG_TRUNC throws bytes away without copying them. A peer that sends without end has its
  // deadline, which does not move.
  constexpr int kRoundsMax = 16;
  for (int round = 0; round < kRoundsMax; ++round) {
    const ssize_t got =
        Receive(connection.descriptor, scratch_, sizeof scratch_, MSG_DONTWAIT | MSG_TRUNC);
    if (got > 0) {
      continue;
    }
    if (got == 0 || errno != EAGAIN) {
      Close(index, connection);
    }
    return;
  }
  Queue(index, connection);  // there may be more, of which no event will tell
}

void IoLoop::Queue(Index index, Connection& connection) {
  if (connection.Has(kQueued)) {
    return;
  }
  connection.Set(kQueued);
  queue_.push_back(index);
}

// The peer is gone; whoever waits with its ticket is told.
void IoLoop::Gone(Index index, Connection& connection) {
  if (connection.state == State::kWaiting) {
    waiting_.store(waiting_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    Tell(RecordKind::kClosed, index, connection);
  }
  Close(index, connection);
}

void IoLoop::Close(Index index, Connection& connection) {
  close(connection.descriptor);
  if (connection.Has(kRefused)) {
    --lingering_refused_;
  } else {
    commons_->connections.fetch_sub(1, std::memory_order_relaxed);
  }
  if (connection.state == State::kWriting) {
    unsent_.Release(connection.unsent);
  }
  Forget(index, connection);
}

// Gives back the record and all it holds, but neither the descriptor nor its place in the count.
void IoLoop::Forget(Index index, Connection& connection) {
  if (connection.unread != kNoBuffer) {
    requests_.Release(connection.unread);
  }
  connection.unread = kNoBuffer;
  wheel_.Unlink(index);
  table_.Release(index);
}

void IoLoop::Expire(Index index, Connection& connection) {
  if (connection.state == State::kReading && connection.unread != kNoBuffer) {
    AnswerProblem(index, connection, Problem::kRequestTimeout);
  } else {
    Close(index, connection);
  }
}

void IoLoop::StopListening() {
  for (Listening& listening : listening_) {
    if (listening.descriptor >= 0) {
      close(listening.descriptor);
    }
    listening.descriptor = -1;
  }
}

void IoLoop::Drain() {
  if (draining_) {
    return;
  }
  draining_ = true;
  StopListening();
  for (Index index = 0; index < table_.size(); ++index) {
    Connection& connection = table_.At(index);
    // A request that is half here is answered when it is whole.
    if (connection.state == State::kReading && connection.unread == 0) {
      Close(index, connection);
    }
    if (connection.state == State::kWriting) {
      connection.Set(kCloseAfter);
    }
  }
}

void IoLoop::CloseAll() {
  StopListening();
  for (Index index = 0; index < table_.size(); ++index) {
    Connection& connection = table_.At(index);
    if (connection.state != State::kFree) {
      Close(index, connection);
    }
  }
  table_.Settle();
  queue_.clear();
  queue_at_ = queue_end_ = 0;
  events_at_ = events_count_ = 0;
  waiting_.store(0, std::memory_order_relaxed);
}

}  // namespace sprites
