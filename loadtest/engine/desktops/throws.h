// The throws: when, by which desktop, on which connection, and how the relay responded.
//
// Open model: the schedule says when a throw is due. It is sent then, or waits for its sender's
// connection; its latency counts from when it was due either way. When throwing ends, what is still
// due is skipped: nothing is thrown outside the window. Closed loop: a fixed number of
// throws is in flight, one for each permit. A permit becomes free when its throw is complete
// (accepted and delivered), refused or given up, and then starts the next throw.
// Where each throw has a connection of its own, it opens it when it is due, and the relay closes it
// after its answer, because the request says so.
// On sockets a throw is a message on its desktop's socket, and what happened there comes as news.
// Invariant: offered = sent + waiting; sent = answered + timed_out + failed + in_flight.
// Threads: one. Memory: 48 bytes a sender, 48 a throw that is not settled.
#ifndef LOADTEST_ENGINE_DESKTOPS_THROWS_H_
#define LOADTEST_ENGINE_DESKTOPS_THROWS_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "account/sprite_tag.h"
#include "desktops/slice_state.h"
#include "plan/schedule.h"

namespace swarm {

class Throws {
 public:
  explicit Throws(SliceState& slice);

  // Opens the connection of a sender whose desktop has been parked for the first time.
  void OpenConnection(uint32_t sender);
  // Throwing starts at `from_ns` and ends at `until_ns`.
  void Begin(int64_t from_ns, int64_t until_ns);
  // Open model: throws what is due. Closed loop: uses free permits. Ends throwing when the window
  // is over.
  void Turn(int64_t now_ns);
  int64_t NextDue() const;
  void OnEvent(uint32_t sender, uint32_t events);
  // The pause of a sender whose connection could not be opened is over.
  void Retry(uint32_t sender);
  // Closed loop: the throws of `count` permits have ended.
  void FreePermits(uint64_t count) { permits_used_ -= count; }
  // Gives up throws that were not answered, or not delivered, in time. Each call looks at a part of
  // the senders, so that no turn takes long; kSweeps calls look at all of them.
  void Sweep(int64_t now_ns);
  static constexpr uint32_t kSweeps = 8;

  // Called by SliceState::HandleEvent.
  void OnOpen(uint32_t sender);
  void OnOpenFailed(uint32_t sender) { OnBroken(sender); }
  void OnResponse(uint32_t sender, const HttpResponse& response);
  // What was on the wire is sent again under the same number, or has failed.
  void OnBroken(uint32_t sender);
  // Sockets: a verdict by number: it may be about a throw that has timed out.
  void OnMessage(uint32_t sender, const Verdict& verdict);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Throw {
    int64_t due_ns = 0;
    int64_t sent_ns = 0;
    uint64_t number = 0;
    uint64_t crossing = 0;
    uint32_t desktop = 0;
    uint32_t identity = 0;  // of its desktop when it was sent first
    uint32_t next = kNone;
    uint8_t tries = 0;
    Edge edge = Edge::kLeft;
  };

  // A connection (on sockets: that of its desktop), shared by the throwers i, i + senders, i + 2 ×
  // senders, … (mostly just one). Its unsettled throws are a list, oldest first: one on the wire,
  // then those that wait.
  struct Sender {
    Connection connection;
    uint32_t next_thrower = 0;  // closed loop: an index into throwers_
    uint32_t first = kNone;
    uint32_t last = kNone;
    uint16_t unsettled = 0;
    bool on_wire = false;  // the oldest throw
    uint8_t tries = 0;
    uint8_t endpoint = Endpoints::kUnknown;  // of its connection
    bool idle = true;                        // closed loop: is in idle_
    bool opened = false;                     // its connection has been open at least once
    bool paced = false;                      // sockets: waits until it may send, in the calendar
  };

  enum class Fate : uint8_t { kAccepted, kRefused, kUnexpected, kTimedOut, kFailed };

  // What a sender does with its next throw. kReconnect: to the relay that the desktop has now.
  enum class Step : uint8_t { kSend, kWait, kFail, kReconnect };

  // Creates a throw that is due. False: it was skipped.
  bool Offer(uint32_t desktop, int64_t due_ns);
  // Open model: the next desktop that throws.
  uint32_t NextInOrder();
  // With `toward`: a bit for each edge over which a desktop may throw, which is each of those whose
  // destination is not known yet; 0 when it does not throw.
  uint8_t EdgesOf(uint32_t desktop) const;
  Edge PickEdge(uint32_t desktop);
  void CountDue(int64_t due_ns);
  // Skips what is still due. From now on this slice starts no throw.
  void End();
  // Sends the oldest throw of a sender, unless it is on the wire.
  void SendWaiting(uint32_t sender);
  // REQUIRES: its connection is open and a throw waits. kWait: something will call SendWaiting.
  Step NextStep(uint32_t sender);
  void Send(uint32_t sender);
  // Writes the request or message of a throw to slice_.request.
  void WriteThrow(Throw& thrown);
  void WriteBody(const Throw& thrown);
  bool IsOpen(uint32_t sender) const;
  Connection& ConnectionOf(uint32_t sender);
  // Sockets: whether the sender's socket may send another message now. If not, it sends when it
  // may.
  bool MaySend(uint32_t sender);
  // Settles the oldest throw of a sender by the relay's verdict.
  void OnVerdict(uint32_t sender, const Verdict& verdict);
  void OnAccepted(const Throw& thrown, const Verdict& verdict);
  // Removes the oldest throw of a sender; its fate is known.
  void Settle(uint32_t sender, Fate fate);
  uint64_t& CounterOf(Fate fate);
  void RemoveOldest(Sender& sender);
  // Closed loop: the sender may start another throw, if all of its throws are settled.
  void MakeIdle(uint32_t sender);
  void StartThrows(int64_t now_ns);
  void WatchAccepted(uint64_t number, int64_t now_ns);
  uint32_t NewThrow();

  SliceState& slice_;
  std::vector<uint32_t> throwers_;  // desktops
  std::vector<Sender> senders_;
  std::vector<Throw> throws_;
  uint32_t free_ = kNone;  // list of unused entries of throws_
  uint64_t next_number_ = 0;
  std::optional<Schedule> schedule_;
  std::vector<uint32_t> order_;  // open model: throwers in the order in which they throw
  size_t next_in_order_ = 0;
  uint32_t sweep_ = 0;
  std::string body_;
  std::string padding_;

  // Closed loop.
  uint64_t permits_ = 0;
  uint64_t permits_used_ = 0;
  int64_t until_ns_ = 0;
  std::deque<uint32_t> idle_;
  struct Watched {
    uint64_t number;
    int64_t since_ns;
  };
  std::deque<Watched> watched_;  // accepted, perhaps not delivered yet
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DESKTOPS_THROWS_H_
