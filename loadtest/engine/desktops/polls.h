// The polls: each joined desktop holds one, and sends the next as soon as one is answered: a
// long-poll on a keep-alive connection of its own, or a message on its socket (sockets.h).
//
// Invariant: polls_sent = polls_answered + polls_cut + polls_dropped + polls_held; a desktop has at
// most one poll out. Threads: one. Cost of an answered poll: one recv, one parse, one send.
//
// A desktop leaves when a batch has just arrived, whose sprites it does not count (it never
// acknowledges them, so they go on to the next desktop), or when its poll has been out for a while.
// A desktop that has ended, for whatever reason, gives back what came after the cursor that the
// relay names. So a sprite is never counted here and forwarded as well.
#ifndef LOADTEST_ENGINE_DESKTOPS_POLLS_H_
#define LOADTEST_ENGINE_DESKTOPS_POLLS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "desktops/catches.h"
#include "desktops/slice_state.h"

namespace swarm {

// What is read late was announced long ago. With EPOLLRDHUP a connection reads until its socket is
// empty.
constexpr uint32_t kLateEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP;

// What an answered poll brought; views of the response.
struct PollBatch {
  std::string_view cursor;
  uint64_t sprites = 0;
  bool ping = false;
  bool bye = false;
  uint64_t retry_after_ms = 0;
  std::string_view join;  // with `bye`: where to join another relay
};

class Polls {
 public:
  Polls(SliceState& slice, Catches& catches) : slice_(slice), catches_(catches) {}

  // Connects a joined desktop, if it must be, and sends its poll.
  void Start(uint32_t index);
  void OnEvent(uint32_t index, uint32_t events);
  // Slow desktops: whether what these events announce is to be read later.
  bool DelayRead(uint32_t index, uint32_t events);
  void EndDelay(uint32_t index);
  // Counts the polls that have been out for too long. Each call looks at a part of the table;
  // kSweeps calls look at all of it.
  void Sweep(int64_t now_ns);
  // Slow desktops: reads what has arrived.
  void ReadLate(uint32_t index);
  // Storming desktops: closes the connection and reconnects at once, with the same cursor.
  void Reconnect(uint32_t index);
  // Churning desktops: leaves as soon as no sprite can be counted twice. Returns after how many ns
  // to call again: `every_ns`, or less when the desktop could not leave yet.
  int64_t TryLeave(uint32_t index, int64_t now_ns, int64_t every_ns);
  // Gives up the poll of a desktop that has left.
  void Drop(uint32_t index);

  // Called by SliceState::HandleEvent.
  void OnOpen(uint32_t index) { SendPoll(index); }
  void OnOpenFailed(uint32_t index);
  void OnResponse(uint32_t index, const HttpResponse& response);
  void OnBroken(uint32_t index);

  // Called by Sockets too. The answer to a poll is a batch or a problem.
  void OnBatch(uint32_t index, std::string_view body, bool keep_alive);
  void OnRefused(uint32_t index, const Problem& problem);
  void OnUpgradeRefused(uint32_t index, const Problem& problem);

 private:
  void BeginLeaving(uint32_t index);
  void SendPoll(uint32_t index);
  void WritePoll(const Desktop& desktop, std::string* to) const;
  void WriteMessage(uint32_t index, std::string* to);
  // Ends a poll that was answered. False: there was none, or its desktop is leaving, and the answer
  // does not count.
  bool EndAnswered(uint32_t index);
  // Handles a batch. False: the body is not what the protocol says.
  bool ReadBatch(uint32_t index, std::string_view body, bool keep_alive);
  // Reads the body, and catches its sprites and hears its sayings as they come: they have arrived,
  // whatever follows.
  bool CatchBatch(uint32_t index, std::string_view body, PollBatch* batch);
  void CountBatch(const PollBatch& batch);
  // The relay stops for good, or is gone: joins another one after a pause of at least `pause_ms`.
  void Move(uint32_t index, uint64_t pause_ms);
  // The desktop has lost its seat. What waits for it goes on to others.
  void End(uint32_t index);
  // A desktop has ended: what it has not acknowledged goes on, and is not its own.
  void GiveBack(uint32_t index, const Problem& problem);
  // After a refusal: joins again, or goes on with the cursor that the relay gave, or tries again.
  void RecoverFrom(uint32_t index, const Problem& problem);
  void EndPoll(Desktop& desktop);
  // Closes the connection, and tells the desktop's sender if it throws on this socket.
  void Close(uint32_t index);

  SliceState& slice_;
  Catches& catches_;
  uint32_t sweep_ = 0;
  uint64_t overdue_so_far_ = 0;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DESKTOPS_POLLS_H_
