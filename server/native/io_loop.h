// One epoll set, the connections in it, and what each of them is waiting for.
//
// Threads: an IoLoop belongs to one thread: the JavaScript thread, or an IoThread. Only gauges are
// read from others. A pass is Wait(), Handle() until it says that all events are served, then
// Settle(). Handle() appends a record to the inbound buffer for each request; Answer() may be
// called at any time on the loop's thread. Invariant: every ticket that went out in a record is
// either answered once or followed by one closed record. Cost of a request: one epoll_wait shared
// with all others of the pass, one recv, one send; no epoll_ctl (sockets are registered once,
// edge-triggered), no allocation. Memory: see connection.h; scratch space of 10 KiB for the whole
// loop.
#ifndef SERVER_NATIVE_IO_LOOP_H_
#define SERVER_NATIVE_IO_LOOP_H_

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "answer.h"
#include "connection.h"
#include "crossing_scan.h"
#include "deadline_wheel.h"
#include "listener.h"
#include "record.h"
#include "request_parser.h"
#include "request_pool.h"
#include "unsent_answers.h"

namespace sprites {

// How long a peer may take. Each ≤ DeadlineWheel::kDeadlineMsMax.
struct Patience {
  uint32_t request_ms =
      10'000;  // for a whole request, from its first byte (the first one: from accept)
  uint32_t idle_ms = 65'000;   // between requests; above the 60 s at which clients drop their end
  uint32_t write_ms = 30'000;  // for the socket to take some of an answer
  uint32_t linger_ms = 2'000;  // to read the answer that closes
};

// What all loops of one front share. Set before they start, but for the two counters.
struct Commons {
  uint32_t connections_max = 0;
  Patience patience;
  uint64_t buffer_bytes_max =
      0;  // of each loop: for partial requests, and as much for unsent answers
  std::array<ProblemBody, static_cast<size_t>(Problem::kCount)> problems;
  std::atomic<uint32_t> connections{0};
  std::atomic<uint32_t> refused{0};
};

class IoLoop {
 public:
  // Room that Handle() wants in the inbound buffer before it goes on: one connection's most in one
  // go.
  static constexpr uint32_t kRecordBytesMax =
      AlignedToEight(kInboundHeadBytes + kRequestBytesMax) + kClosedBytes;

  IoLoop(uint32_t thread, Commons* commons, RecordBuffer* inbound);
  ~IoLoop();
  IoLoop(const IoLoop&) = delete;
  IoLoop& operator=(const IoLoop&) = delete;

  // 0 or an errno. Before anything else.
  int Open();
  // Takes over a listening descriptor. `number` is the listener's number in records.
  int AddListener(int descriptor, const ListenerOptions& options, uint8_t number);
  // Watches a descriptor of somebody else: Wait() tells of it by bit `number` < 32, Handle() does
  // not touch it.
  int AddOutsider(int descriptor, uint32_t number, uint32_t extra_events);
  void RemoveOutsider(int descriptor);

  // Waits up to `timeout_ms` (-1: for ever) for events; sooner when there is something to do
  // without one. The outsiders that have something, one bit each.
  uint32_t Wait(int timeout_ms);
  // Serves what Wait() found. False: all of it is served; true: the inbound buffer has to be
  // emptied first.
  bool Handle();
  // The end of a pass.
  void Settle() { table_.Settle(); }
  // True when Wait() would not wait.
  bool HasWork() const { return !queue_.empty(); }

  // Answers the ticket of `record` with the body it says the start of; the head is
  // written before it, in place. A ticket that is not waiting is ignored.
  void Answer(uint8_t* record);

  // No new connections.
  void StopListening();
  // The same; and connections without a ticket close now, the others after their answer.
  void Drain();
  // Closes all connections and listeners at once. No closed records.
  void CloseAll();

  int descriptor() const { return epoll_; }
  uint32_t waiting() const { return waiting_.load(std::memory_order_relaxed); }
  uint64_t buffered_bytes() const { return requests_.mapped_bytes() + unsent_.bytes(); }

 private:
  struct Listening {
    int descriptor;
    Route route;
    bool hands_over;
    uint8_t number;
  };
  enum class ReadResult : uint8_t { kBytes, kNothing, kEnd };

  static constexpr int kEventsMax =
      256;  // a pass: what one turn of JavaScript takes in some 200 µs
  static constexpr int kAcceptsMax =
      64;  // a listener and pass, so that accepting does not starve answering
  static constexpr uint32_t kAcceptRestMs =
      100;  // when nothing can be accepted; short to who knocks, long to a processor
  static constexpr uint32_t kLingeringRefusedMax =
      16;  // refused connections let down gently at once: a quarter of the descriptors kept back
  static constexpr uint32_t kEvents = EPOLLIN | EPOLLRDHUP | EPOLLET;

  void HandleEvent(const epoll_event& event);
  void Accept(const Listening& listening);
  bool AcceptWithReserve(const Listening& listening);
  void RestFromAccepting();
  void ListenAgain();
  void WatchListeners(uint32_t events);
  void Refuse(int descriptor, uint8_t listener);
  void Resume(Index index);
  void Read(Index index, Connection& connection);
  void Consume(Index index, Connection& connection, const uint8_t* bytes, uint32_t size,
               ParserPlace* place);
  void Partial(Index index, Connection& connection, const uint8_t* bytes, uint32_t size,
               const ParserPlace& place, bool expects_continue);
  void Emit(Index index, Connection& connection, RecordKind kind, const uint8_t* bytes,
            const Request& request);
  void AppendCrossing(InboundRecord* record, const uint8_t* body, uint32_t length);
  void KeepRest(Index index, Connection& connection, const uint8_t* bytes, uint32_t size);
  void TellIfOutdated(Index index, Connection& connection);
  void Tell(RecordKind kind, Index index, const Connection& connection);
  void HandOver(Index index, Connection& connection, const uint8_t* bytes, uint32_t size);
  void AnswerOther(Index index, Connection& connection, const uint8_t* bytes, uint32_t size,
                   Parsed parsed, const Request& request);
  void AnswerProblem(Index index, Connection& connection, Problem problem);
  void Write(Index index, Connection& connection, const uint8_t* bytes, uint32_t size);
  void WriteOn(Index index, Connection& connection);
  void Written(Index index, Connection& connection);
  void Linger(Index index, Connection& connection);
  void Discard(Index index, Connection& connection);
  void Queue(Index index, Connection& connection);
  void Gone(Index index, Connection& connection);
  void Close(Index index, Connection& connection);
  void Forget(Index index, Connection& connection);
  void Expire(Index index, Connection& connection);
  Persistence PersistenceOf(const Connection& connection) const;
  const ProblemBody& BodyOf(Problem problem) const {
    return commons_->problems[static_cast<size_t>(problem)];
  }
  const Listening& ListeningOf(const Connection& connection) const {
    return listening_[connection.listener];
  }

  const uint32_t thread_;
  Commons* const commons_;
  RecordBuffer* const inbound_;
  int epoll_ = -1;
  int reserve_ = -1;  // given up for a moment to accept and refuse a connection when no descriptor
                      // is left; -1: it could not be had again
  bool draining_ = false;
  uint64_t rests_until_ms_ = 0;  // the listeners are not watched until then; 0: they are
  uint32_t lingering_refused_ = 0;
  std::atomic<uint32_t> waiting_{0};
  std::vector<Listening> listening_;
  ConnectionTable table_;
  DeadlineWheel wheel_;
  RequestPool requests_;
  UnsentAnswers unsent_;
  // Connections that can go on without an event: unread bytes stand behind an answered request, or
  // the peer closed.
  std::vector<Index> queue_;
  size_t queue_at_ = 0;
  size_t queue_end_ = 0;
  int events_count_ = 0;
  int events_at_ = 0;
  uint32_t wheel_visits_ = 0;
  epoll_event events_[kEventsMax];
  uint8_t scratch_[kRequestBytesMax];
};

// CLOCK_MONOTONIC in milliseconds.
uint64_t NowMs();

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_LOOP_H_
