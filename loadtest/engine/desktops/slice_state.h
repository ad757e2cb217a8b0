// What the parts of a slice share: its desktops, its epoll set, its counters and the calendar of
// things to do later.
//
// Data runs one way: Joins adds a desktop to the relay, Polls parks it, Throws throws for it,
// Sayings talks for it, Peeks peeks for it. A later part talks to an earlier one through a queue
// here, which is read at the start of each turn. Threads: one; a slice is a process.
#ifndef LOADTEST_ENGINE_DESKTOPS_SLICE_STATE_H_
#define LOADTEST_ENGINE_DESKTOPS_SLICE_STATE_H_

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <deque>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "account/counters.h"
#include "account/ledger.h"
#include "desktops/desktop.h"
#include "desktops/shared_run.h"
#include "desktops/socket.h"
#include "net/http_response.h"
#include "plan/clock.h"
#include "plan/options.h"
#include "plan/random.h"

namespace swarm {

// Which part handles an event or an entry of the calendar.
enum class Part : uint8_t {
  kJoiner,
  kPoll,
  kSender,
  kTalker,
  kPeeker,
  kDoorbell,
  kPermit,
  kAct,
  kLateRead
};

inline uint64_t TagOf(Part part, uint32_t index) {
  return static_cast<uint64_t>(part) << 32U | index;
}

// Sockets of one slice that are connecting at the same time. A relay's queue of new connections
// holds at least some hundreds; a connection that finds it full is retried by the kernel only after
// a second.
constexpr uint32_t kConnectingMax = 64;
constexpr size_t kScratchBytes = size_t{64} * 1024;

class SliceState {
 public:
  SliceState(const Options& options, SharedRun& run, uint32_t index, uint32_t run_id,
             int64_t started_ns);
  ~SliceState();
  SliceState(const SliceState&) = delete;
  SliceState& operator=(const SliceState&) = delete;

  // Starts to connect, and counts the outcome. False: it failed at once.
  bool Connect(Connection& connection, uint64_t tag, uint8_t endpoint, uint32_t pick);
  bool Send(Connection& connection, std::string_view bytes);
  void Close(Connection& connection);
  // Append what a desktop sends to its relay: a request to `route` of its own, or a message on its
  // socket, which counts for its pace.
  // `fields`: more fields of its header, each with the end of its line.
  void AppendPost(const Desktop& desktop, std::string_view route, std::string_view body,
                  std::string* to, std::string_view fields = {}) const;
  void AppendMessage(uint32_t local, std::string_view text, std::string* to);
  // Handles an event of a connection and calls `owner`:
  //   OnOpen(index)                           the connection is open now
  //   OnOpenFailed(index)                     it could not be opened
  //   OnResponse(index, const HttpResponse&)  for each whole response; may send or close
  //   OnBytes(index, bytes, at_end)           instead: see Connection::Read
  //   OnBroken(index)                         the peer closed it, it broke, or it sent bytes that
  //                                           are not what they should be
  template <typename Owner>
  void HandleEvent(Connection& connection, uint32_t events, Owner& owner, uint32_t index);

  // Schedules a retry after a pause that doubles with each failure and has jitter. The pause is at
  // least `at_least_ms`.
  void RetryLater(Part part, uint32_t index, uint8_t* tries, uint64_t at_least_ms = 0);
  void ScheduleAt(Part part, uint32_t index, int64_t when_ns) {
    calendar_.push({when_ns, part, index});
  }
  // When the next entry of the calendar is due; INT64_MAX when it is empty.
  int64_t NextDue() const { return calendar_.empty() ? INT64_MAX : calendar_.top().when_ns; }
  bool PopDue(int64_t now_ns, Part* part, uint32_t* index);

  // Whether a throw may still leave. False from the end of the drain on, which the parent may have
  // announced while this slice was not running.
  bool MayThrow() const {
    return run.control().phase.load(std::memory_order_relaxed) <= Phase::kDrain;
  }
  // The index in the whole run of desktop `local` of this slice.
  uint32_t GlobalIndex(uint32_t local) const { return first_desktop + local; }
  uint32_t MsSinceStart(int64_t now_ns) const {
    return static_cast<uint32_t>((now_ns - started_ns) / kNsPerMs);
  }
  // Where a desktop joins.
  uint8_t ApiEndpoint(uint32_t local) const { return api_endpoints[desktops[local].relay]; }
  // From now on the desktop joins at the relay with this address, if that is one of the run.
  void MoveTo(uint32_t local, std::string_view join);
  // A join has failed: the next one goes to the relay before the last move.
  void MoveBack(uint32_t local);
  bool has_sockets() const { return !sockets.empty(); }
  // Whether a poll may be sent on the connection of a desktop.
  bool IsReady(uint32_t index) const {
    return desktops[index].poll.open() &&
           (!has_sockets() || sockets[index].state == Socket::State::kOpen);
  }
  bool IsUpgrading(uint32_t index) const {
    return has_sockets() && desktops[index].poll.open() &&
           sockets[index].state == Socket::State::kUpgrading;
  }
  bool IsClosing(uint32_t index) const {
    return has_sockets() && sockets[index].state == Socket::State::kClosing;
  }
  // Sprites tell when they were due after it, because other machines have another clock.
  int64_t first_throw_ns() const {
    return run.control().throw_from_ns.load(std::memory_order_relaxed);
  }
  bool InWindow(int64_t due_ns) const {
    return due_ns >= measure_from_ns && due_ns < measure_until_ns;
  }

  const Options& options;
  SharedRun& run;
  SliceBoard& board;
  Ledger ledger;         // of the throws of this slice
  SayingLedger sayings;  // of what it says
  Departed departed;
  const uint32_t index;  // of this slice in the run
  const uint32_t run_id;
  const int64_t started_ns;
  uint32_t first_desktop;
  int epoll;

  std::vector<Desktop> desktops;
  std::vector<Socket> sockets;  // of the desktops, or none
  Endpoints endpoints;
  std::vector<uint8_t> api_endpoints;  // of the relays
  Counters counters;
  Random random;
  Random masks;  // of frames: apart, so that both transports throw the same
  Phase phase = Phase::kConnect;
  bool throwing_ended = false;  // nothing more will be thrown on schedule
  int64_t measure_from_ns = INT64_MAX;
  int64_t measure_until_ns = INT64_MAX;
  uint32_t connecting = 0;

  std::deque<uint32_t> joining;        // desktops that join again, or leave and then join again
  std::deque<uint32_t> polling;        // desktops that must send a poll, mostly on a new connection
  std::deque<uint32_t> ready_senders;  // senders whose desktop has been parked for the first time
  std::deque<uint32_t> watched;  // desktops whose stages are posted in turn; some no longer are
  std::deque<SocketNews> news;   // of sockets whose desktops throw or talk; read after each event
  std::deque<uint32_t> broken;   // desktops whose socket did not accept what was sent
  std::array<char, kScratchBytes> scratch;
  std::string request;  // the request being written; kept so that its memory is reused
  std::string message;  // the same for the message in a frame

 private:
  struct Entry {
    int64_t when_ns;
    Part part;
    uint32_t index;
    bool operator>(const Entry& other) const { return when_ns > other.when_ns; }
  };

  int FinishConnect(Connection& connection, uint32_t events);
  void SetRelay(uint32_t local, uint8_t relay);

  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> calendar_;
};

template <typename Owner>
void SliceState::HandleEvent(Connection& connection, uint32_t events, Owner& owner,
                             uint32_t index) {
  if (connection.state() == Connection::State::kClosed) {
    return;
  }
  if (connection.state() == Connection::State::kConnecting) {
    const int error = FinishConnect(connection, events);
    if (error == EINPROGRESS) {
      return;
    }
    if (error != 0) {
      owner.OnOpenFailed(index);
      return;
    }
    owner.OnOpen(index);
  }
  if ((events & EPOLLOUT) != 0 && connection.open() && !connection.Flush()) {
    owner.OnBroken(index);
  }
  // TLS may hold bytes that the socket no longer announces.
  if (!connection.open() ||
      (!connection.secure() && (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) == 0)) {
    return;
  }
  Connection::ReadResult result{};
  if constexpr (requires { &Owner::OnBytes; }) {
    result = connection.Read(
        scratch, events, &counters.bytes_in,
        [&](std::span<char> bytes, bool at_end) { return owner.OnBytes(index, bytes, at_end); });
  } else {
    result = connection.ReadResponses(
        scratch, events, &counters.bytes_in,
        [&](const HttpResponse& response) { owner.OnResponse(index, response); });
  }
  switch (result) {
    case Connection::ReadResult::kBad:
      ++counters.answers_bad;
      [[fallthrough]];
    case Connection::ReadResult::kClosedByPeer:
      owner.OnBroken(index);
      return;
    case Connection::ReadResult::kDrained:
    case Connection::ReadResult::kClosedByCallback:
      return;
  }
}

// Divides `total` things into `shares` equal shares: share i holds [ShareBegin(i),
// ShareBegin(i + 1)).
inline uint32_t ShareBegin(uint32_t share, uint32_t shares, uint32_t total) {
  return static_cast<uint32_t>(uint64_t{total} * share / shares);
}

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DESKTOPS_SLICE_STATE_H_
