// What a slice counts while it runs; the run's counters are the sum over its slices.
//
// Invariants, which the parent checks on every snapshot it prints:
//   offered = sent + waiting                      sent = answered + timed_out + failed + in_flight
//   answered = accepted + refused + unexpected    missed ≤ skipped
//   sprites_received = delivered + repeated + foreign
//   polls_sent = polls_answered + polls_cut + polls_dropped + polls_held
//   sayings_due = said + sayings_skipped          hearings = heard + heard_again + heard_foreign
//   peeks_due = peeks_sent + peeks_skipped
//   peeks_sent = peeks_accepted + _hidden + _refused + _failed + _unanswered
//   said = sayings_accepted + _refused + _timed_out + _failed + _unanswered
// Threads: one slice owns them and publishes whole copies (see SliceBoard).
#ifndef LOADTEST_ENGINE_ACCOUNT_COUNTERS_H_
#define LOADTEST_ENGINE_ACCOUNT_COUNTERS_H_

#include <array>
#include <cstdint>
#include <string>

#include "net/problem.h"

namespace swarm {

struct Counters {
  // Desktops. "now" marks a gauge: the present value, not a count since the start.
  uint64_t joined = 0;          // now
  uint64_t senders = 0;         // connections that throws use
  uint64_t senders_opened = 0;  // of these: have been open; the relay may close an idle one
  uint64_t joins_sent = 0;
  uint64_t joins_accepted = 0;
  uint64_t joins_refused = 0;   // with a response
  uint64_t joins_failed = 0;    // the connection broke
  uint64_t desktops_ended = 0;  // the relay answered 401 or 410; they join again
  uint64_t moved = 0;           // their relay stopped for good or was gone; they join another one
  uint64_t leaves = 0;
  uint64_t leaves_failed = 0;

  // Connections.
  uint64_t connects = 0;
  uint64_t connections_open = 0;  // now
  uint64_t connects_failed = 0;
  uint64_t connects_refused = 0;     // of these: nothing listens on the port
  uint64_t handshakes_failed = 0;    // of these: no TLS, or a certificate that is not trusted
  uint64_t addresses_exhausted = 0;  // of these: no local port is left on any source
  uint64_t cuts = 0;                 // the relay closed or broke an open connection
  uint64_t answers_bad = 0;          // not HTTP, or not the JSON of the protocol

  // Sockets.
  uint64_t sockets_opened = 0;
  uint64_t sockets_refused = 0;  // upgrades
  uint64_t socket_pings = 0;     // from the relay; each was answered
  uint64_t socket_closes = 0;    // close frames from the relay
  uint64_t paced = 0;            // times that throws waited because their socket had sent its share

  // Polls.
  uint64_t polls_sent = 0;
  uint64_t polls_answered = 0;
  uint64_t polls_with_sprites = 0;  // of these
  uint64_t polls_with_ping = 0;
  uint64_t polls_empty = 0;
  uint64_t polls_refused = 0;  // 4xx, 5xx
  uint64_t polls_cut = 0;      // by the relay or the network
  uint64_t polls_dropped = 0;  // by the swarm itself: storming desktops, and those that left
  uint64_t polls_held = 0;     // now: parked, as far as a client can know
  uint64_t polls_overdue = 0;  // now: held for longer than any answer may take

  // Throws.
  uint64_t offered = 0;  // due, and given to a sender: scheduled − skipped
  uint64_t skipped = 0;  // due, but never sent: its sender's backlog was full, or it was missed
  uint64_t missed = 0;   // of these: the slice was not running until after the end of throwing
  uint64_t due = 0;      // due in the measured window: offered or skipped
  uint64_t waiting = 0;  // now: due, but its sender's connection is busy
  uint64_t sent = 0;
  uint64_t answered = 0;
  uint64_t accepted = 0;
  uint64_t refused = 0;
  uint64_t unexpected = 0;
  uint64_t timed_out = 0;
  uint64_t failed = 0;
  uint64_t in_flight = 0;  // now
  uint64_t resent = 0;     // under the same number, after the connection broke
  uint64_t abandoned = 0;  // closed loop: not complete in time; another throw got its permit

  // Arrivals.
  uint64_t sprites_received = 0;  // events of polls; a desktop that leaves does not count its last
  uint64_t delivered = 0;         // for the first time
  uint64_t repeated = 0;          // once more
  uint64_t arrived = 0;           // delivered and accepted, counted when it became both
  uint64_t reads_due = 0;         // now: slow desktops that have not read what arrived
  uint64_t out_of_order = 0;      // the mailbox's sequence number did not rise
  uint64_t late = 0;
  uint64_t away = 0;      // of delivered: at desktops that storm, churn or read late; timed apart
  uint64_t across = 0;    // of delivered: thrown at another relay
  uint64_t foreign = 0;   // not of this run
  uint64_t visitors = 0;  // of delivered: thrown by another machine of the fleet
  uint64_t visitors_misrouted = 0;
  uint64_t visitors_corrupted = 0;

  // Sayings.
  uint64_t sayings_due = 0;
  uint64_t sayings_skipped = 0;  // the last one of the same desktop had no answer, or it was missed
  uint64_t said = 0;
  uint64_t sayings_resent = 0;  // under the same number, after the connection broke
  uint64_t sayings_accepted = 0;
  uint64_t sayings_refused = 0;
  uint64_t sayings_timed_out = 0;
  uint64_t sayings_failed = 0;
  uint64_t sayings_unanswered = 0;  // now

  // Hearings: a saying counts once for each desktop that hears it, its speaker too.
  uint64_t hearings_owed = 0;    // as the relay's answers say
  uint64_t hearings_missed = 0;  // events of polls say that so many were lost
  uint64_t hearings = 0;         // sayings in events of polls
  uint64_t heard = 0;            // of these: for the first time at that desktop
  uint64_t heard_again = 0;      // once more, or after a later one of the same speaker
  uint64_t heard_foreign = 0;    // not of this run
  uint64_t heard_corrupted = 0;  // another text, or another speaker, than was sent

  // Peeks, and posts of stages.
  uint64_t peeks_due = 0;
  uint64_t peeks_skipped = 0;  // the last one of the same desktop had no answer, or it had no seat
  uint64_t peeks_sent = 0;
  uint64_t peeks_accepted = 0;
  uint64_t peeks_hidden = 0;  // there is no neighbour or stage, or the desktop has left
  uint64_t peeks_refused = 0;
  uint64_t peeks_failed = 0;
  uint64_t peeks_unanswered = 0;  // now
  uint64_t stages_posted = 0;     // of accepted
  uint64_t stages_seen = 0;       // in events of polls
  uint64_t stages_old = 0;        // posted before one that was already seen
  uint64_t stages_corrupted = 0;  // not as they were posted
  uint64_t watches_ended = 0;     // by the relay

  // Behaviours.
  uint64_t reconnects = 0;       // of storming desktops
  uint64_t strikes = 0;          // of hostile desktops
  uint64_t strikes_parried = 0;  // of these: the relay answered or closed the connection

  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;

  std::array<uint64_t, kProblemCodes.size()> refused_by_code{};        // throws
  std::array<uint64_t, kProblemCodes.size()> other_refused_by_code{};  // all other

  void Add(const Counters& other);
  // Returns the empty string when the invariants hold, else which one does not.
  std::string Disagreement() const;
};

static_assert(sizeof(Counters) % sizeof(uint64_t) == 0);

}  // namespace swarm

#endif  // LOADTEST_ENGINE_ACCOUNT_COUNTERS_H_
