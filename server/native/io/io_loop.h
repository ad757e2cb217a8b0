// One epoll set, its connections, and what each of them waits for.
//
// Threads: an IoLoop belongs to one thread: the JavaScript thread, or an IoThread. Other threads
// only read its gauges.
// A pass is Wait(), then Handle() until it has handled every event, then EndPass(). Handle()
// appends a record to the inbound buffer for each request. Answer() may be called on the loop's
// thread at any time.
// Invariant: every ticket that left in a record is either answered once or followed by one closed
// record.
// Cost of a request: one epoll_wait shared with all other requests of the pass, one recv, one send;
// no epoll_ctl (sockets are registered once, edge-triggered), no allocation.
// Memory: see connection.h; scratch space of 9 KiB for the whole loop.
#ifndef SERVER_NATIVE_IO_IO_LOOP_H_
#define SERVER_NATIVE_IO_IO_LOOP_H_

#include <sys/epoll.h>

#include <atomic>
#include <cstdint>

#include "http/answer.h"
#include "http/request_parser.h"
#include "io/acceptor.h"
#include "io/answer_sender.h"
#include "io/connection.h"
#include "io/deadline_wheel.h"
#include "io/epoll_set.h"
#include "io/inbound_records.h"
#include "io/listener.h"
#include "io/ready_queue.h"
#include "io/record.h"
#include "io/request_reader.h"
#include "io/shared_state.h"

namespace sprites {

class IoLoop {
 public:
  // Room that Handle() needs in the inbound buffer to continue: the most that one event of one
  // connection appends.
  static constexpr uint32_t kRecordBytesMax = kInboundRecordBytesMax + kNoticeBytes;

  IoLoop(uint32_t thread, SharedState* shared, RecordBuffer* inbound);
  ~IoLoop();
  IoLoop(const IoLoop&) = delete;
  IoLoop& operator=(const IoLoop&) = delete;

  // Returns 0 or an errno. Call it first.
  int Open();
  // Takes ownership of a listening descriptor. `number` is the listener's number in records.
  int AddListener(int descriptor, const ListenerOptions& options, uint8_t number) {
    return acceptor_.Add(descriptor, options, number);
  }
  // Watches a descriptor that the caller owns. Wait() reports it as bit `number` < 32; Handle()
  // does not touch it.
  int AddExternal(int descriptor, uint32_t number, uint32_t extra_events) {
    return epoll_.AddExternal(descriptor, number, extra_events);
  }
  void RemoveExternal(int descriptor) { epoll_.Remove(descriptor); }

  // Waits up to `timeout_ms` (-1: without limit) for events; less when there is work that needs no
  // event. Returns the external descriptors that are ready, one bit each.
  uint32_t Wait(int timeout_ms);
  // Handles what Wait() found. Returns false when everything is handled, true when the inbound
  // buffer must be emptied first.
  bool Handle();
  // Ends a pass.
  void EndPass() { table_.EndPass(); }
  // True when Wait() would not wait.
  bool HasWork() const { return !ready_.empty(); }

  // Answers the ticket of `record` with the body in it, and `shared` behind it if the record says
  // so; the head is written into the gap before the body. A ticket that does not wait is ignored.
  void Answer(uint8_t* record, SharedBody shared);

  // Accepts no more connections.
  void StopListening() { acceptor_.Stop(); }
  // Closes idle connections, accepts those that wait, and stops listening; closes all after their
  // answer. Called again, it closes those that have not asked, too.
  void Drain();
  // Closes all connections and listeners at once, without closed records.
  void CloseAll();

  int descriptor() const { return epoll_.descriptor(); }
  uint32_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  // A pass: what one turn of JavaScript handles in some 200 µs.
  static constexpr int kEventsMax = 256;

  void HandleEvent(const epoll_event& event);
  void HandleConnection(Index index, uint32_t events);
  bool Accept(uint32_t listener);
  void Resume(Index index);
  void Expire(Index index, Connection& connection);

  void Read(Index index, Connection& connection);
  void HandleBytes(Index index, Connection& connection, const UnreadBytes& unread);
  void KeepPartial(Index index, Connection& connection, const UnreadBytes& unread,
                   bool expects_continue);
  void KeepRest(Index index, Connection& connection, const UnreadBytes& unread,
                const Request& request);
  void HandOver(Index index, Connection& connection, const UnreadBytes& unread);

  Ticket NextTicket(Index index, Connection& connection) const;
  void AwaitAnswer(Index index, Connection& connection, const Request& request);
  void ReportIfOutdated(Index index, Connection& connection);
  bool IsAbandoned(const Connection& connection) const;
  void EndWaiting();
  void AnswerOffRoute(Index index, Connection& connection, const UnreadBytes& unread, Parsed parsed,
                      const Request& request);
  void AnswerProblem(Index index, Connection& connection, Problem problem);
  Persistence PersistenceOf(const Connection& connection) const;

  void Send(Index index, Connection& connection, const uint8_t* bytes, uint32_t size,
            SharedBody shared = {});
  void HandleSent(Index index, Connection& connection, AnswerSender::Sent sent);
  void Linger(Index index, Connection& connection);
  void Discard(Index index, Connection& connection);
  void MarkReady(Index index, Connection& connection);
  void HandlePeerGone(Index index, Connection& connection);
  void Close(Index index, Connection& connection);
  void Release(Index index, Connection& connection);

  const uint32_t thread_;
  SharedState* const shared_;
  RecordBuffer* const inbound_;
  bool draining_ = false;
  std::atomic<uint32_t> waiting_{0};
  EpollSet epoll_;
  ConnectionTable table_;
  DeadlineWheel wheel_;
  Acceptor acceptor_;
  RequestReader reader_;
  AnswerSender sender_;
  ReadyQueue ready_;
  int events_count_ = 0;
  int events_at_ = 0;
  uint32_t wheel_visits_ = 0;
  epoll_event events_[kEventsMax];
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_IO_LOOP_H_
