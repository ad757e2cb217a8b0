// What the parts of a slice share: its desktops, its epoll set, its counters, and the calendar of
// what to try again.
//
// Data runs one way: Joins seat a desktop, Polls park it, Throws throw for it. What a later part
// has to say to an earlier one goes through a queue here (rejoin), read at the end of each turn.
// Threads: one; a slice is a process.
#ifndef LOADTEST_ENGINE_STAGE_H_
#define LOADTEST_ENGINE_STAGE_H_

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <deque>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "clock.h"
#include "counters.h"
#include "desktop.h"
#include "http_response.h"
#include "ledger.h"
#include "options.h"
#include "random.h"
#include "shared_run.h"

namespace swarm {

// Who an event, or an entry of the calendar, is for.
enum class Part : uint8_t { kJoiner, kPoll, kSender, kDoorbell, kRelayPlace, kAct, kLateRead };

inline uint64_t TagOf(Part part, uint32_t index) {
  return static_cast<uint64_t>(part) << 32U | index;
}

struct Problem {
  std::string_view code;
  std::string_view cursor;
  uint64_t retry_after_ms = 0;
};
Problem ReadProblem(const HttpResponse& response);

// Sockets of one slice that are connecting at once: a relay's queue of new connections is at least
// some hundreds long, and what does not fit there is tried again only after a second.
constexpr uint32_t kConnectingMax = 64;
constexpr size_t kScratchBytes = size_t{64} * 1024;

class Stage {
 public:
  Stage(const Options& options, SharedRun& run, uint32_t slice, uint32_t run_id,
        int64_t started_ns);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Begins a connection, and counts what comes of it. False: it failed at once.
  bool Begin(Connection& connection, uint64_t tag, uint8_t endpoint, uint32_t pick);
  // The first event of a connection that was begun.
  bool Finish(Connection& connection, uint32_t events);
  bool Send(Connection& connection, std::string_view bytes);
  void Close(Connection& connection);
  // Serves an event of a connection of `owner`, which has
  //   OnOpen()                         it is open now
  //   OnNotOpened()                    it could not be opened
  //   OnAnswer(const HttpResponse&)    for each whole response; may send, or close
  //   OnBroken()                       the peer closed it, it broke, or what came is no HTTP
  template <typename Owner>
  void Serve(Connection& connection, uint32_t events, Owner&& owner);

  // Try again after a pause that doubles with each failure, with jitter; not before `at_least_ms`.
  void TryLater(Part part, uint32_t index, uint8_t* tries, uint64_t at_least_ms = 0);
  void TryAt(Part part, uint32_t index, int64_t when_ns) { calendar_.push({when_ns, part, index}); }
  // When the next entry is due; INT64_MAX when there is none.
  int64_t NextTry() const { return calendar_.empty() ? INT64_MAX : calendar_.top().when_ns; }
  bool PopTry(int64_t now_ns, Part* part, uint32_t* index);

  // The index of desktop `local` of this slice in the whole run.
  uint32_t GlobalIndex(uint32_t local) const { return first_desktop + local; }
  uint32_t MsSinceStart(int64_t now_ns) const {
    return static_cast<uint32_t>((now_ns - started_ns) / kNsPerMs);
  }
  bool InWindow(int64_t due_ns) const {
    return due_ns >= measure_from_ns && due_ns < measure_until_ns;
  }

  const Options& options;
  SharedRun& run;
  SliceBoard& board;
  Ledger ledger;  // of this slice's own throws
  Departed departed;
  const uint32_t slice;
  const uint32_t run_id;
  const int64_t started_ns;
  uint32_t first_desktop;
  int epoll;

  std::vector<Desktop> desktops;
  Endpoints endpoints;
  uint8_t api_endpoint = 0;
  Counters counters;
  Random random;
  Phase phase = Phase::kConnect;
  int64_t measure_from_ns = INT64_MAX;
  int64_t measure_until_ns = INT64_MAX;
  uint32_t connecting = 0;

  std::deque<uint32_t> rejoin;         // desktops the relay no longer knows
  std::deque<uint32_t> leaving;        // desktops that go, and come again
  std::deque<uint32_t> polling;        // desktops that want their poll's connection opened
  std::deque<uint32_t> ready_senders;  // whose desktop has been parked for the first time
  std::array<char, kScratchBytes> scratch;
  std::string request;  // the one being written; kept for its memory

 private:
  struct Entry {
    int64_t when_ns;
    Part part;
    uint32_t index;
    bool operator>(const Entry& other) const { return when_ns > other.when_ns; }
  };
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> calendar_;
};

template <typename Owner>
void Stage::Serve(Connection& connection, uint32_t events, Owner&& owner) {
  if (connection.state() == Connection::State::kClosed) {
    return;
  }
  if (connection.state() == Connection::State::kConnecting) {
    if (!Finish(connection, events)) {
      owner.OnNotOpened();
      return;
    }
    owner.OnOpen();
  }
  if ((events & EPOLLOUT) != 0 && connection.open() && !connection.Flush()) {
    owner.OnBroken();
  }
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) == 0 || !connection.open()) {
    return;
  }
  switch (connection.Read(scratch, &counters.bytes_in,
                          [&](const HttpResponse& response) { owner.OnAnswer(response); })) {
    case Connection::ReadEnd::kBad:
      ++counters.answers_bad;
      [[fallthrough]];
    case Connection::ReadEnd::kClosed:
      owner.OnBroken();
      return;
    case Connection::ReadEnd::kDrained:
    case Connection::ReadEnd::kGone:
      return;
  }
}

// The desktops, or connections, of slice i: [FirstOf(i), FirstOf(i + 1)).
inline uint32_t FirstOf(uint32_t slice, uint32_t slices, uint32_t total) {
  return static_cast<uint32_t>(uint64_t{total} * slice / slices);
}

}  // namespace swarm

#endif  // LOADTEST_ENGINE_STAGE_H_
