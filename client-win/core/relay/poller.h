// The poll life: join, poll, poll again; back off with jitter, go on from another cursor, join
// anew.
//
// Invariant: at most one join or poll is under way; a poll is sent only after everything the last
// one brought is taken (Resume), because its cursor acknowledges it. Never two tries without a
// pause between. Cost: O(1) an event.
#ifndef CLIENT_WIN_CORE_RELAY_POLLER_H_
#define CLIENT_WIN_CORE_RELAY_POLLER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/motion/behaviour.h"
#include "core/relay/crossing.h"
#include "core/seams.h"

namespace sprites {

constexpr int64_t kBackoffMsFirst = 400;       // a blink; most failures are one lost connection
constexpr int64_t kBackoffMsMax = 15'000;      // half a lease: we are back before we are forgotten
constexpr int64_t kPollMsMin = 20;             // between two polls: 64 sprites each are enough
constexpr int64_t kByeMsMax = 60'000;          // whatever a relay says about when to come back
constexpr int64_t kRetryAfterMsMax = 300'000;  // likewise, when it is full
constexpr uint32_t kShortTimeoutMs = 10'000;   // of every request that is not held
constexpr uint32_t kFileTimeoutMs = 20'000;    // of a file of at most 1 MiB
constexpr double kSilenceFactor =
    1.5;  // of the ping: longer without an answer, and nobody is there
constexpr size_t kUrlBytesMax = 512;
constexpr int kPingSecondsMax = 600;  // a proxy would have cut the connection long before

// How long to wait before try number `attempt` (from 0): doubling, half of it left to chance.
int64_t BackoffMs(int attempt, const Random& random);

// A place at the relay: what a join answers.
struct Seat {
  std::string desktop;
  std::string token;
  std::string world;
  std::string cursor;
  std::string events;  // URLs, absolute
  std::string crossings;
  int ping_seconds = 120;
  int lease_seconds = 30;
};

// The seat in a join's answer, or of what was kept. Nothing when a field is missing, too long, or
// an address that is not on the relay's own host (or below it), or that gives up its TLS.
std::optional<Seat> ReadSeat(std::string_view json, std::string_view relay_url);
std::string SeatJson(const Seat& seat);

// `http://host:port` or `https://…` without what follows, or nothing when it is no such address.
std::optional<std::string> RelayOrigin(std::string_view url);

struct JoinWish {
  std::string name;
  std::string world;   // empty: the one everybody is in
  std::string beside;  // a friend's desktop; empty for none
  int width = 1;       // dip
  int height = 1;
};

enum class Link : uint8_t { kJoining, kConnected, kBroken };

// What an answer meant.
struct News {
  std::optional<Batch> batch;            // take it in, then Resume
  std::optional<Neighbours> neighbours;  // who lies beyond the edges now
  bool seated = false;                   // a new seat: start anew with it
  bool cursor_lost = false;              // sequence numbers begin anew
  bool seat_ended = false;               // a join follows
  // And nothing ever acknowledged the last batch: the relay passes it on, so it is not ours.
  bool batch_was_lost = false;
  Problem refused;  // a join was refused for what it asks; code empty: was not
};

class Poller {
 public:
  Poller(const std::string& relay_url, JoinWish wish, Random random);

  // Goes on with a seat of before instead of joining.
  void SitDown(Seat seat);
  // Asks something else next time it joins.
  void SetWish(JoinWish wish) { wish_ = std::move(wish); }

  // What is to be asked now; nothing while something is under way, waits its time, or Resume is
  // due.
  std::optional<Request> Due(int64_t now_ms, RequestId* next_id);
  // What an answer means; nothing when it was not to ours.
  std::optional<News> Take(const Answer& answer, int64_t now_ms);
  // The last batch is taken in and kept; polls go on from its cursor.
  void Resume() { held_back_ = false; }
  // The network is back, or the machine woke up: try now.
  void Hurry() { due_ms_ = 0; }

  const std::optional<Seat>& seat() const { return seat_; }
  Link link() const { return link_; }
  const std::string& relay() const { return relay_; }
  RequestId under_way() const { return under_way_; }
  // When Due will next have something, given no event; the largest value when never.
  int64_t NextDueMs() const;

 private:
  Request JoinRequest(RequestId id) const;
  Request LookRequest(RequestId id) const;
  Request PollRequest(RequestId id) const;
  News TakeJoin(const Answer& answer, int64_t now_ms);
  News TakeLook(const Answer& answer, int64_t now_ms);
  News TakePoll(const Answer& answer, int64_t now_ms);
  News TakeRefusal(const Answer& answer, int64_t now_ms);
  void BackOff(int64_t now_ms, int retry_after_s);

  std::string relay_;
  JoinWish wish_;
  Random random_;
  std::optional<Seat> seat_;
  Link link_ = Link::kJoining;
  RequestId under_way_ = 0;
  bool has_looked_ = false;  // since the link was last broken
  bool held_back_ = false;
  int polls_of_cursor_ =
      1;  // sent with the cursor we have: 0, and the last batch is not acknowledged
  int failures_ = 0;
  int64_t due_ms_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_POLLER_H_
