// What a run found, and how it is printed: one JSON object for programs, one line a second for
// people.
//
// The JSON is the last line on stdout. Names are camelCase and end in their unit. Counts are of the
// whole run, warm-up and drain included, except those in `window`.
//
// clang-format off
//   phase "done", ok, message     ok: the run is complete and every account adds up; if not, message
//                                 says why
//   mode "open" | "closed" | "sitting", transport "poll" | "socket", desktops, senders, processes, rate, seed
//                                 of the options
//   parked                        desktops whose poll was out when the first sprite was thrown
//
//   scheduled = offered + skipped throws that were due, counted from the schedule and not by those
//                                 that throw; skipped: never sent, because the sender's backlog of
//                                 64 was full or because it was missed
//   missed                        of skipped: the swarm was not running when it was due
//   due                           of scheduled: due in the measured window
//   offered = sent + waiting
//   thrown                        offered, as the ledger has it
//   sent = answered + timedOut + failed + inFlight
//   resent                        sent again under the same number after the connection broke; not
//                                 in sent
//   answered = accepted + refused + unexpected
//   refusedByCode {"mailbox-full": n, …}
//   abandoned                     closed loop: accepted, but not delivered in time
//   delivered, arrived            arrived: of delivered, accepted too
//   accepted = arrived + undelivered + lost
//                                 undelivered: had not arrived when the drain ended, and may still be
//                                 on its way; lost: can be nowhere, because nothing was under way and
//                                 nothing had arrived for a second
//   corrupted                     arrived with another position, speed, file, animation, facing or
//                                 scale than it was thrown with
//   received = delivered + repeated + foreign
//                                 sprites in the answers of polls
//   duplicated, misrouted         sprites that arrived more than once; that arrived at the wrong
//                                 desktop, by the wrong edge, or under the wrong sender's name
//   forwarded                     arrived at another desktop than the relay named, because the named
//                                 one had left; this is correct
//   away                          delivered to desktops that storm, churn or read late; timed apart
//   across                        delivered to a desktop of another relay than the thrower's
//   visitors {machines, delivered, table}
//                                 only in a fleet that shares a world: of delivered, those that other
//                                 machines threw, and the table in which they are taken from those
//                                 that this one threw and did not catch (account/bloom_table.h).
//                                 undelivered and lost have the latter until results are merged
//   late, outOfOrder              delivered later than `lateAfter`; the mailbox's sequence number
//                                 did not rise
//   deliveredUnaccepted, foreign  delivered although refused, failed or timed out; not of this run
//
//   window {seconds, fromMs, untilMs, offered, sent, accepted, delivered, offeredPerS, deliveredPerS}
//                                 between the two readings of counters and CPU; from and until are
//                                 on the wall clock, to compare windows of several machines
//   latencyUs, awayUs, answerUs, slipUs {count, mean, p50, p90, p99, p999, max}
//                                 of throws due in the window, from when they were due until:
//                                 latency, the arrival at a desktop that reads at once and stays;
//                                 away, the arrival at another; answer, the 202; slip, the swarm
//                                 handled them (how late the swarm itself was). Throws that did not
//                                 arrive are in none of them: due − latency − away is their number
//   latencyBucketsNs, awayBucketsNs, answerBucketsNs, slipBucketsNs [[low, high, count], …]
//                                 the histograms; adding merges them with those of other machines
//
//   polls {sent = answered + cut + dropped + held, withSprites, withPing, empty, refused, overdue}
//   joins {sent, accepted, refused, failed, desktopsEnded, moved, left, leavesFailed, seconds}
//                                 moved: their relay stopped for good and named another one, or it
//                                 was gone
//   connections {connects, failed, refused, handshakesFailed, addressesExhausted, cuts, badAnswers,
//                bytesIn, bytesOut}
//   sockets {opened, refused, pings, closes, paced}
//                                 refused: upgrades; pings and closes: from the relay; paced: how
//                                 often throws waited because their socket had sent its share
//   sayings {due = said + skipped, resent,
//            said = accepted + refused + timedOut + failed + unanswered,
//                                 skipped: the last one of the same desktop had no answer
//            owed = heard − unowed + missed + gone + underWay + lost,
//                                 owed: of each accepted saying, once for each desktop that the relay said it is for, and for its
//                                 speaker. heard: once at each desktop. unowed: at more desktops than it was for, or refused.
//                                 missed: the relay told the hearer so. gone: on its way when a poll's connection or a desktop
//                                 ended, or between relays. underWay: may still come. lost: for no reason at all
//            received = heard + again + foreign, corrupted, heardInWindow}
//                                 received: in polls. again: a second time at the same desktop, or out of order.
//                                 corrupted: with another text or speaker
//   hearingUs, hearingBucketsNs   as latencyUs: of sayings due in the window, until a desktop that reads at once and stays hears them
//   peeks {due = sent + skipped,  sent = accepted + hidden + refused + failed + unanswered,
//          posted, seen, old, corrupted, ended}
//                                 peeks and posts of stages. hidden: there was no neighbour or no stage, or the desktop had left.
//                                 posted: of accepted, stages. seen: in polls; old: posted before one that was seen before;
//                                 corrupted: not as it was posted. ended: watches, by the relay
//   behaviours {reconnects, strikes, strikesParried}
//   otherRefusedByCode            of polls, joins, sayings and peeks
//
//   relay {pids, cpuUsPerSprite, userUsPerSprite, systemUsPerSprite, cpuCores,
//          rssBytes {before, parked, end}, bytesPerParkedPoll}
//                                 only with `watchPids`; per sprite delivered in the window
//   swarm {cpuUsPerSprite, userUsPerSprite, systemUsPerSprite, cpuCores, busiestProcessCores,
//          rssBytes}
//   kernel {before, parked, end: {tcpMemoryBytes, slabBytes}}
//   startedAtMs                   wall clock, to compare runs of several machines
//   drainedAtMs                   the same, when the drain ended and no desktop had left; 0: it did not
//   seconds [{atS, phase, parked, connections, sent, accepted, delivered, refused, heard,
//             hearingsMissed, bytesIn, p50Us, p90Us, p99Us, p999Us, maxUs, relayCores, swarmCores, relayRssBytes,
//             tcpMemoryBytes, slabBytes, latencyBucketsNs}]
//                                 counts and latencies are of that second alone; gauges are from its
//                                 end; with `printSeconds` each is also printed during the run, as
//                                 {"second": {…}}
//   limit "none" | "swarm" | "relay", limitReason
// clang-format on
#ifndef LOADTEST_ENGINE_RUN_REPORT_H_
#define LOADTEST_ENGINE_RUN_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "account/bloom_table.h"
#include "account/counters.h"
#include "account/histogram.h"
#include "account/ledger.h"
#include "account/process_watch.h"
#include "account/saying_ledger.h"
#include "plan/options.h"

namespace swarm {

// One moment of the run; its values are read as closely together as possible.
struct Moment {
  int64_t at_ns = 0;
  uint64_t at_ms = 0;  // wall clock
  Counters counters;
  ProcessUse relay;
  ProcessUse swarm;
  std::vector<double> slices_s;  // CPU of each slice
};

struct Second {
  double at_s = 0;
  std::string_view phase;
  uint64_t parked = 0;
  uint64_t connections = 0;
  uint64_t sent = 0;
  uint64_t accepted = 0;
  uint64_t delivered = 0;
  uint64_t refused = 0;
  uint64_t heard = 0;
  uint64_t hearings_missed = 0;
  uint64_t bytes_in = 0;
  // Of its arrivals, also those outside the measured window.
  const Histogram* latency = nullptr;
  double relay_cores = 0;
  double swarm_cores = 0;
  uint64_t relay_rss_bytes = 0;
  KernelUse kernel;
};

struct Findings : Latencies {
  bool ok = true;
  std::string message;
  uint64_t started_at_ms = 0;  // wall clock
  uint64_t drained_at_ms = 0;
  uint64_t parked = 0;
  double connect_s = 0;
  Moment window_begin;
  Moment window_end;
  Counters total;
  Fates fates;
  BloomTable visitors;        // what this machine has not caught of its own, without what it caught
  bool is_rest_lost = false;  // what has not arrived can be nowhere
  HearingFates hearings;
  uint64_t unheard = 0;        // owed, not heard, and not told as missed
  bool may_be_gone = false;    // these, with a connection or a desktop, or between relays
  uint64_t lost = 0;           // of fates.missing
  uint64_t undelivered = 0;    // the others
  uint64_t scheduled = 0;      // by the schedule
  uint64_t scheduled_due = 0;  // of these: due in the measured window
  uint64_t relay_rss_before = 0;
  uint64_t relay_rss_parked = 0;
  uint64_t relay_rss_end = 0;
  uint64_t swarm_rss_parked = 0;
  KernelUse kernel_before;
  KernelUse kernel_parked;
  KernelUse kernel_end;
  std::string seconds;  // the JSON of each, with commas between them
};

std::string ReportJson(const Options& options, const Findings& findings);
// A line at the start of a phase, for programs.
std::string PhaseJson(std::string_view phase, double at_s, const Counters& counters);
// One second: SecondLine for people, SecondJson for programs.
std::string SecondLine(const Second& second);
std::string SecondJson(const Second& second);

}  // namespace swarm

#endif  // LOADTEST_ENGINE_RUN_REPORT_H_
