// The throws: when, by whom, on which connection, and what the relay answered.
//
// Open model: the schedule says when a throw is due; it is sent then, or waits for its sender's
// connection, and its latency counts from when it was due either way. Closed loop: a fixed number
// of relays is under way, and the end of one (accepted and delivered, or refused, or given up)
// starts the next. Invariant: offered = sent + waiting + skipped; sent = answered + timed_out +
// failed + in_flight. Threads: one. Memory: 48 bytes a sender, 48 a throw that is not settled.
#ifndef LOADTEST_ENGINE_THROWS_H_
#define LOADTEST_ENGINE_THROWS_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "schedule.h"
#include "sprite_tag.h"
#include "stage.h"

namespace swarm {

class Throws {
 public:
  explicit Throws(Stage& stage);

  // A sender's desktop has been parked for the first time: opens its connection.
  void Ready(uint32_t sender);
  // Throwing starts at `from_ns` and ends at `until_ns`.
  void Begin(int64_t from_ns, int64_t until_ns);
  // Open model: throws what is due. Closed loop: fills free places.
  void Turn(int64_t now_ns);
  int64_t NextDue() const;
  void OnEvent(uint32_t sender, uint32_t events);
  // A sender whose connection could not be opened tries again.
  void Again(uint32_t sender);
  // Closed loop: `count` relays have become complete, or places free.
  void FreePlaces(uint64_t count) { places_taken_ -= count; }
  void Sweep(int64_t now_ns);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Throw {
    int64_t due_ns = 0;
    int64_t sent_ns = 0;
    uint64_t number = 0;
    uint64_t crossing = 0;
    uint32_t desktop = 0;
    uint32_t next = kNone;
    uint8_t tries = 0;
    Edge edge = Edge::kLeft;
  };

  // A connection, of the throwers i, i + senders, i + 2 × senders, …; mostly that is one. Its
  // unsettled throws are a list, oldest first: those on the wire, then those that wait.
  struct Sender {
    Connection connection;
    uint32_t turn = 0;  // closed loop: whose throw is next, an index into throwers_
    uint32_t first = kNone;
    uint32_t last = kNone;
    uint32_t next_to_send = kNone;
    uint16_t unsettled = 0;
    uint16_t on_wire = 0;
    uint8_t tries = 0;
    bool idle = true;     // closed loop: is in idle_
    bool opened = false;  // its connection has been open once
  };

  enum class Fate : uint8_t { kAccepted, kRefused, kUnexpected, kTimedOut, kFailed };

  bool Offer(uint32_t desktop, int64_t due_ns);
  void OnOpen(uint32_t sender);
  void Pump(uint32_t sender);
  bool SendThrow(Sender& sender, Throw& thrown);
  void OnAnswer(uint32_t sender, const HttpResponse& response);
  void Accepted(const Throw& thrown, const HttpResponse& response);
  // Removes the oldest throw of a sender; its fate is known.
  void Settle(uint32_t sender, Fate fate);
  // The connection is gone: what was on the wire is thrown again under the same number, or has
  // failed.
  void Break(uint32_t sender);
  void StartRelays(int64_t now_ns);
  void WatchAccepted(uint64_t number, int64_t now_ns);
  uint32_t NewThrow();

  Stage& stage_;
  std::vector<uint32_t> throwers_;  // desktops
  std::vector<Sender> senders_;
  std::vector<Throw> throws_;
  uint32_t free_ = kNone;  // list of unused throws
  uint64_t next_number_ = 0;
  std::optional<Schedule> schedule_;
  std::vector<uint32_t> order_;  // open model: throwers in the order of their turns
  size_t turn_ = 0;
  std::string body_;
  std::string padding_;

  // Closed loop.
  uint64_t places_ = 0;
  uint64_t places_taken_ = 0;
  int64_t until_ns_ = 0;
  std::deque<uint32_t> idle_;
  struct Watched {
    uint64_t number;
    int64_t since_ns;
  };
  std::deque<Watched> watched_;  // accepted, perhaps not delivered yet
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_THROWS_H_
