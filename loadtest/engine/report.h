// What a run found, and how it is told: one JSON object for programs, one line a second for people.
//
// The JSON is the last line on stdout. camelCase, units in names; counts are of the whole run,
// warm-up and drain included, unless they stand in `window`.
//
//   phase "done", ok, message     ok: the run is complete and every account adds up; else why not
//   mode "open" | "closed" | "sitting", desktops, senders, processes, rate, inFlightTarget,
//   pipeline, arrivals, spriteBytes, seed, spin, throwConnections, mix {"sitting": n, …}
//                                 what was asked for; mix: desktops of each behaviour
//   parked                        desktops whose poll was out when the first sprite flew
//
//   offered = sent + waiting + skipped       due; skipped: the sender's backlog of 64 was full
//   sent = answered + timedOut + failed + inFlight
//   resent                        again under the same number (connection broke); not in sent
//   answered = accepted + refused + unexpected
//   refusedByCode {"mailbox-full": n, …}
//   abandoned                     closed loop: accepted, not seen delivered in time
//   delivered, lost               lost: accepted, and not delivered by the end of the drain
//   duplicated, misrouted         sprites that came more than once; to the wrong desktop, by the
//                                 wrong edge, or in the wrong name
//   forwarded                     to another desktop than the relay named, which had left: right
//   untimed                       delivered to desktops that storm, churn or read late: in no
//   latency late, outOfOrder              later than --late-after; the mailbox's number did not
//   rise deliveredUnaccepted, foreign  arrived although refused, failed or timed out; not of this
//   run
//
//   window {seconds, offered, sent, accepted, delivered, offeredPerS, deliveredPerS}
//                                 between the two readings of counters and CPU
//   latencyUs, answerUs, slipUs {count, mean, p50, p90, p99, p999, max}
//                                 of throws due in the window, from when due: to the arrival, to
//                                 the 202, to when the swarm turned to it (how late the swarm
//                                 itself was)
//   latencyBucketsNs, answerBucketsNs, slipBucketsNs [[low, high, count], …]
//                                 the histograms, merged with those of other machines by adding
//
//   polls {sent = answered + cut + dropped + held, withSprites, withPing, empty, refused, overdue,
//   byes,
//          cursorsLost}
//   joins {sent, accepted, refused, failed, desktopsEnded, left, leavesFailed, seconds}
//   connections {connects, failed, refused, addressesExhausted, cuts, badAnswers, bytesIn,
//                bytesOut}
//   behaviours {reconnects, strikes, strikesParried}
//   otherRefusedByCode            of polls and joins
//
//   relay {pids, cpuUsPerSprite, userUsPerSprite, systemUsPerSprite, cpuCores,
//          rssBytes {before, parked, end}, bytesPerParkedPoll}
//                                 with --watch-pids only; per sprite delivered in the window
//   swarm {cpuUsPerSprite, userUsPerSprite, systemUsPerSprite, cpuCores, busiestProcessCores,
//          rssBytes}
//   kernel {before, parked, end: {tcpInUse, tcpMemoryBytes, slabBytes, availableBytes}}
//   startedAtMs                   wall clock, so that runs of several machines can be laid side by
//   side seconds [{atS, phase, parked, connections, sent, accepted, delivered, refused,
//             p50Us, p90Us, p99Us, p999Us, maxUs, relayCores, swarmCores, relayRssBytes,
//             tcpMemoryBytes, slabBytes, latencyBucketsNs}]
//                                 counts and latencies are of that second alone, what is open or in
//                                 use is as it was at its end; with --seconds each is also told
//                                 while the run is on, as {"second": {…}}
//   limit "none" | "swarm" | "relay", limitReason
#ifndef LOADTEST_ENGINE_REPORT_H_
#define LOADTEST_ENGINE_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "counters.h"
#include "histogram.h"
#include "ledger.h"
#include "options.h"
#include "process_watch.h"

namespace swarm {

// One moment of the run, read at once as far as that is possible.
struct Moment {
  int64_t at_ns = 0;
  Counters counters;
  ProcessUse relay;
  ProcessUse swarm;
  std::vector<double> slices_s;  // CPU of each slice
};

// Values of a histogram that look alike: low … high, both included.
struct Bucket {
  uint64_t low = 0;
  uint64_t high = 0;
  uint64_t count = 0;
};
std::vector<Bucket> BucketsOf(const Histogram& histogram);

struct Second {
  double at_s = 0;
  std::string_view phase;
  uint64_t parked = 0;
  uint64_t connections = 0;
  uint64_t sent = 0;
  uint64_t accepted = 0;
  uint64_t delivered = 0;
  uint64_t refused = 0;
  std::vector<Bucket> latency;  // of its arrivals; those outside the measured window too
  uint64_t p50_us = 0;
  uint64_t p90_us = 0;
  uint64_t p99_us = 0;
  uint64_t p999_us = 0;
  uint64_t max_us = 0;
  double relay_cores = 0;
  double swarm_cores = 0;
  uint64_t relay_rss_bytes = 0;
  uint64_t tcp_memory_bytes = 0;
  uint64_t slab_bytes = 0;
};

struct Findings {
  bool ok = true;
  std::string message;
  uint64_t started_at_ms = 0;  // wall clock
  uint64_t parked = 0;
  double connect_s = 0;
  Moment window_begin;
  Moment window_end;
  Counters total;
  Fates fates;
  Histogram latency;
  Histogram answer;
  Histogram slip;
  uint64_t relay_rss_before = 0;
  uint64_t relay_rss_parked = 0;
  uint64_t relay_rss_end = 0;
  uint64_t swarm_rss_parked = 0;
  KernelUse kernel_before;
  KernelUse kernel_parked;
  KernelUse kernel_end;
  std::vector<Second> seconds;
};

// Who could not do more: the swarm, the relay, or neither.
struct Limit {
  std::string_view who = "none";
  std::string reason;
};
Limit LimitOf(const Options& options, const Findings& findings);

std::string ReportJson(const Options& options, const Findings& findings);
// For people, and for programs.
std::string SecondLine(const Second& second);
std::string SecondJson(const Second& second);

}  // namespace swarm

#endif  // LOADTEST_ENGINE_REPORT_H_
