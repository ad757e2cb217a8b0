// Polling the relay: join, fetch the neighbours, poll, poll again; after a failure back off with
// jitter; after a lost cursor continue from the one the relay gives; after a lost seat join again;
// move to another relay when this one stops for good, or is gone (moves.h).
//
// Invariant: at most one of these requests is under way. A poll is sent only after the last batch
// is handled (ResumePolling), because its cursor acknowledges that batch. There is always a pause
// between two tries. Cost: O(1) a response, besides parsing it.
#ifndef CLIENT_WIN_CORE_RELAY_POLLER_H_
#define CLIENT_WIN_CORE_RELAY_POLLER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/motion/behaviour.h"
#include "core/relay/backoff.h"
#include "core/relay/batch.h"
#include "core/relay/moves.h"
#include "core/relay/request.h"
#include "core/relay/seat.h"

namespace sprites {

constexpr int64_t kPollMsMin = 20;  // between two polls; each brings up to 64 sprites

struct JoinOptions {
  std::string name;
  std::string world;   // empty for the default world
  std::string beside;  // a friend's invitation; empty for none
  int width = 1;       // dip
  int height = 1;
  std::optional<bool> stage{};  // whether neighbours may peek; nothing: as the world says
};

enum class Link : uint8_t { kJoining, kConnected, kBroken };

// What a response means for the desktop.
struct News {
  std::optional<Batch> batch;  // handle it, then call ResumePolling
  std::optional<Neighbours> neighbours;
  std::string name{};        // with neighbours: that of this desktop
  bool seated = false;       // there is a new seat
  bool cursor_lost = false;  // the relay numbers its events from 1 again
  bool seat_ended = false;   // a join follows
  // With seat_ended: the number of the last event that was acknowledged; above all of them when the
  // relay was started without what it knew. The relay has passed on the sprites of later events, so
  // they no longer belong to this desktop.
  std::optional<uint64_t> acknowledged;
  // Likewise, when the relay does not say, or is gone: the last batch was never acknowledged.
  bool batch_was_lost = false;
  bool invitation_ended = false;  // the invitation was refused; the next join goes without it
  Problem refused;                // why a join was refused; an empty code if it was not
};

class Poller {
 public:
  Poller(const std::string& relay_url, JoinOptions options, Random random);

  // Continues with a seat from before, instead of joining. `joined_at` is as below.
  void UseSeat(Seat seat, std::string joined_at);
  // What the next join asks for.
  void SetJoinOptions(JoinOptions options) { options_ = std::move(options); }
  // Whether the relay has refused this invitation. It is not sent again.
  bool IsRefused(const std::string& invitation) const {
    return !invitation.empty() && invitation == refused_invitation_;
  }

  // The request to send now. Nothing while one is under way, before its time, or before
  // ResumePolling.
  std::optional<Request> DueRequest(int64_t now_ms, RequestId* next_id);
  // What a response means; nothing when it is not to the request under way.
  std::optional<News> HandleResponse(const Response& response, int64_t now_ms);
  // The last batch is handled and saved: polling continues from its cursor.
  void ResumePolling() { is_held_back_ = false; }
  // Tries again now: the network is back, or the machine woke up. A poll under way may wait for a
  // connection that is dead, so it is given up. Returns the request to cancel; 0 for none.
  RequestId RetryNow();
  // The relay has agreed to show the stage, or to hide it. REQUIRES: seat().
  void SetStage(bool is_shown) { seat_->stage = is_shown; }
  // Whether no response has acknowledged the last batch: the relay may not have got a poll with its
  // cursor. A batch after which the desktop moves has no sprites.
  bool IsInDoubt() const { return seat_ && !is_acknowledged_ && !is_moving_; }
  // Whether the last batch is certainly not acknowledged, because no such poll was sent.
  bool OwesPoll() const { return IsInDoubt() && polls_with_cursor_ == 0; }
  // The poll that acknowledges it, or learns whether it was, at the end of the seat. Nothing when
  // there is no doubt, while a request is under way, or before its time.
  std::optional<Request> LastPoll(int64_t now_ms, RequestId* next_id);
  // Leaves the request under way without a result: its events stay with the relay.
  void IgnoreResponse();
  // The request that gives up the seat. REQUIRES: seat().
  Request LeaveRequest(RequestId id) const;
  // What the response to it means. The seat is gone, or, without a response, perhaps not. It stays
  // here while there is a doubt: the relay answers a poll also when the seat has ended.
  News HandleLeft(const Response& response);

  const std::optional<Seat>& seat() const { return seat_; }
  Link link() const { return link_; }
  // The relay that has the seat; while there is none, the one to join. Of several relays that share
  // a world, the join's answer names the one that has the private world or the friend.
  std::string relay() const {
    return seat_ ? RelayOrigin(seat_->crossings).value_or(relay_) : JoinAddress();
  }
  // The address at which the seat was joined.
  const std::string& joined_at() const { return joined_at_; }
  // Where links for friends lead.
  const std::string& site() const { return moves_.site(); }
  RequestId under_way() const { return under_way_; }
  // When DueRequest next returns something, if no event comes first; the largest value for never.
  int64_t NextDueMs() const;

 private:
  // What the request under way is for.
  enum class Step : uint8_t { kJoin, kNeighbours, kPoll };

  // Where the next join goes.
  const std::string& JoinAddress() const { return !seat_ && joins_other_ ? other_ : relay_; }
  Request JoinRequest(RequestId id) const;
  Request DesktopRequest(RequestId id, Method method) const;
  Request PollRequest(RequestId id) const;
  News HandleJoin(const Response& response, int64_t now_ms);
  News HandleNeighbours(const Response& response, int64_t now_ms);
  News HandlePoll(const Response& response, int64_t now_ms);
  News HandleRefusal(const Response& response, int64_t now_ms);
  News NewsOfEnd(const Problem& problem) const;
  // `is_for_good`: the relay will refuse the same again.
  void TryOther(int64_t now_ms, int retry_after_s, bool is_for_good = false);
  void BackOff(int64_t now_ms, int retry_after_s, bool is_for_good = false);
  // The longest pause now.
  int64_t LongestPauseMs() const { return seat_ ? PauseMsMax(*seat_) : kBackoffMsMax; }

  std::string relay_;  // where it began
  // Another relay to join at: the one that a bye has named, or that of the last seat. Without a
  // seat, joins go to the two in turn.
  std::string other_;
  bool joins_other_ = false;
  bool is_moving_ = false;  // when a request is due, the seat is given up for `other_`
  bool seeks_ = false;      // the relay of the seat is gone: the next request is a join at `relay_`
  std::string joined_at_;
  Moves moves_;
  JoinOptions options_;
  std::string refused_invitation_;  // the last one; it stays refused
  Random random_;
  std::optional<Seat> seat_;
  Link link_ = Link::kJoining;
  RequestId under_way_ = 0;
  Step step_ = Step::kJoin;
  int64_t answered_ms_ = -1;     // when the relay of the seat answered last; -1 before any request
  bool has_neighbours_ = false;  // fetched since the link was last broken
  bool is_held_back_ = false;    // until ResumePolling
  // Polls sent with the present cursor. While it is 0 the relay can't have seen that cursor, so it
  // does not know that the last batch arrived.
  int polls_with_cursor_ = 1;
  bool is_acknowledged_ = true;  // a response has acknowledged the last batch, if there was one
  int failures_ = 0;
  int64_t due_ms_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_POLLER_H_
