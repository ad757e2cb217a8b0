#include "run/report.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "net/json_writer.h"
#include "plan/clock.h"

namespace swarm {
namespace {

constexpr double kBusyCores = 0.9;       // a thread with less than a tenth of its core left
constexpr double kAchievedShare = 0.99;  // of the offered throws
constexpr uint64_t kPacedShare = 100;    // one throw in so many waited for its socket's pace

double UsPerSprite(double seconds, uint64_t sprites) {
  return sprites == 0 ? 0 : seconds * 1e6 / static_cast<double>(sprites);
}

double WindowSeconds(const Findings& findings) {
  return static_cast<double>(findings.window_end.at_ns - findings.window_begin.at_ns) /
         static_cast<double>(kNsPerSecond);
}

double BusiestCores(const Findings& findings) {
  const double seconds = WindowSeconds(findings);
  double most = 0;
  const std::vector<double>& begin = findings.window_begin.slices_s;
  const std::vector<double>& end = findings.window_end.slices_s;
  for (size_t i = 0; i < std::min(begin.size(), end.size()); ++i) {
    most = std::max(most, end[i] - begin[i]);
  }
  return seconds > 0 ? most / seconds : 0;
}

uint64_t Growth(const Findings& findings, uint64_t Counters::*counter) {
  return findings.window_end.counters.*counter - findings.window_begin.counters.*counter;
}

void WriteLatency(JsonWriter& json, std::string_view key, const Histogram& histogram) {
  const auto us = [](uint64_t ns) { return static_cast<double>(ns) / kNsPerUs; };
  json.Open(key, '{').Whole("count", histogram.count()).Real("mean", histogram.mean() / kNsPerUs);
  json.Real("p50", us(histogram.Percentile(0.5))).Real("p90", us(histogram.Percentile(0.9)));
  json.Real("p99", us(histogram.Percentile(0.99))).Real("p999", us(histogram.Percentile(0.999)));
  json.Real("max", us(histogram.max())).Close('}');
}

void WriteCodes(JsonWriter& json, std::string_view key,
                const std::array<uint64_t, kProblemCodes.size()>& counts) {
  json.Open(key, '{');
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) {
      json.Whole(kProblemCodes[i], counts[i]);
    }
  }
  json.Close('}');
}

void WriteKernel(JsonWriter& json, std::string_view key, const KernelUse& use) {
  json.Open(key, '{').Whole("tcpMemoryBytes", use.tcp_memory_bytes);
  json.Whole("slabBytes", use.slab_bytes).Close('}');
}

void WriteUse(JsonWriter& json, const ProcessUse& begin, const ProcessUse& end, uint64_t sprites,
              double seconds) {
  json.Real("cpuUsPerSprite", UsPerSprite(end.cpu_s - begin.cpu_s, sprites));
  // CPU time is exact, its parts are known only in ticks: use their proportion.
  const double user_s = end.user_s - begin.user_s;
  const double system_s = end.system_s - begin.system_s;
  const double user_share = user_s + system_s > 0 ? user_s / (user_s + system_s) : 0;
  const double cpu_us = UsPerSprite(end.cpu_s - begin.cpu_s, sprites);
  json.Real("userUsPerSprite", cpu_us * user_share);
  json.Real("systemUsPerSprite", cpu_us * (1 - user_share));
  json.Real("cpuCores", seconds > 0 ? (end.cpu_s - begin.cpu_s) / seconds : 0);
}

void WriteOptions(JsonWriter& json, const Options& options) {
  json.Text("mode", options.mode == Mode::kOpen     ? "open"
                    : options.mode == Mode::kClosed ? "closed"
                                                    : "sitting");
  json.Text("transport", options.transport == Transport::kSocket ? "socket" : "poll");
  json.Whole("desktops", options.desktops).Whole("senders", options.senders);
  json.Whole("processes", options.processes).Real("rate", options.rate);
  json.Whole("seed", options.seed);
}

void WriteThrows(JsonWriter& json, const Findings& f) {
  const Counters& c = f.total;
  const Fates& fates = f.fates;
  json.Whole("scheduled", f.scheduled).Whole("due", f.scheduled_due).Whole("thrown", fates.thrown);
  json.Whole("offered", c.offered).Whole("skipped", c.skipped).Whole("missed", c.missed);
  json.Whole("waiting", c.waiting);
  json.Whole("sent", c.sent).Whole("resent", c.resent).Whole("answered", c.answered);
  json.Whole("accepted", c.accepted).Whole("refused", c.refused).Whole("unexpected", c.unexpected);
  json.Whole("timedOut", c.timed_out).Whole("failed", c.failed).Whole("inFlight", c.in_flight);
  json.Whole("abandoned", c.abandoned);
  WriteCodes(json, "refusedByCode", c.refused_by_code);
  json.Whole("delivered", fates.delivered + c.visitors).Whole("arrived", c.arrived);
  json.Whole("undelivered", f.undelivered).Whole("lost", f.lost);
  // What was given back and has not arrived again is with no desktop.
  json.Whole("received", c.sprites_received - fates.given_back).Whole("repeated", c.repeated);
  json.Whole("duplicated", fates.duplicated).Whole("misrouted", fates.misrouted);
  json.Whole("corrupted", fates.corrupted);
  json.Whole("forwarded", fates.forwarded).Whole("away", c.away);
  json.Whole("across", c.across);
  json.Whole("late", c.late).Whole("outOfOrder", c.out_of_order);
  json.Whole("deliveredUnaccepted", fates.delivered_unaccepted).Whole("foreign", c.foreign);
}

void WriteSayings(JsonWriter& json, const Findings& f) {
  const Counters& c = f.total;
  const bool is_lost = f.is_rest_lost && !f.may_be_gone;
  json.Open("sayings", '{').Whole("due", c.sayings_due).Whole("skipped", c.sayings_skipped);
  json.Whole("said", c.said).Whole("resent", c.sayings_resent);
  json.Whole("accepted", c.sayings_accepted).Whole("refused", c.sayings_refused);
  json.Whole("timedOut", c.sayings_timed_out).Whole("failed", c.sayings_failed);
  json.Whole("unanswered", c.sayings_unanswered).Whole("owed", f.hearings.owed);
  json.Whole("heard", c.heard).Whole("unowed", f.hearings.unowed);
  json.Whole("missed", f.hearings.missing - f.unheard);
  json.Whole("gone", f.is_rest_lost && f.may_be_gone ? f.unheard : 0);
  json.Whole("underWay", f.is_rest_lost ? 0 : f.unheard).Whole("lost", is_lost ? f.unheard : 0);
  json.Whole("received", c.hearings).Whole("again", c.heard_again);
  json.Whole("foreign", c.heard_foreign).Whole("corrupted", c.heard_corrupted);
  json.Whole("heardInWindow", Growth(f, &Counters::heard)).Close('}');
}

void WritePeeks(JsonWriter& json, const Findings& f) {
  const Counters& c = f.total;
  json.Open("peeks", '{').Whole("due", c.peeks_due).Whole("skipped", c.peeks_skipped);
  json.Whole("sent", c.peeks_sent).Whole("accepted", c.peeks_accepted);
  json.Whole("hidden", c.peeks_hidden).Whole("refused", c.peeks_refused);
  json.Whole("failed", c.peeks_failed).Whole("unanswered", c.peeks_unanswered);
  json.Whole("posted", c.stages_posted).Whole("seen", c.stages_seen);
  json.Whole("old", c.stages_old).Whole("corrupted", c.stages_corrupted);
  json.Whole("ended", c.watches_ended).Close('}');
}

void WriteTraffic(JsonWriter& json, const Counters& c, double connect_s) {
  json.Open("polls", '{').Whole("sent", c.polls_sent).Whole("answered", c.polls_answered);
  json.Whole("cut", c.polls_cut).Whole("dropped", c.polls_dropped).Whole("held", c.polls_held);
  json.Whole("withSprites", c.polls_with_sprites).Whole("withPing", c.polls_with_ping);
  json.Whole("empty", c.polls_empty).Whole("refused", c.polls_refused);
  json.Whole("overdue", c.polls_overdue).Close('}');
  json.Open("joins", '{').Whole("sent", c.joins_sent).Whole("accepted", c.joins_accepted);
  json.Whole("refused", c.joins_refused).Whole("failed", c.joins_failed);
  json.Whole("desktopsEnded", c.desktops_ended).Whole("moved", c.moved).Whole("left", c.leaves);
  json.Whole("leavesFailed", c.leaves_failed).Real("seconds", connect_s).Close('}');
  json.Open("connections", '{').Whole("connects", c.connects).Whole("failed", c.connects_failed);
  json.Whole("refused", c.connects_refused).Whole("handshakesFailed", c.handshakes_failed);
  json.Whole("addressesExhausted", c.addresses_exhausted);
  json.Whole("cuts", c.cuts).Whole("badAnswers", c.answers_bad);
  json.Whole("bytesIn", c.bytes_in).Whole("bytesOut", c.bytes_out).Close('}');
  json.Open("sockets", '{').Whole("opened", c.sockets_opened).Whole("refused", c.sockets_refused);
  json.Whole("pings", c.socket_pings).Whole("closes", c.socket_closes);
  json.Whole("paced", c.paced).Close('}');
  json.Open("behaviours", '{').Whole("reconnects", c.reconnects).Whole("strikes", c.strikes);
  json.Whole("strikesParried", c.strikes_parried).Close('}');
  WriteCodes(json, "otherRefusedByCode", c.other_refused_by_code);
}

void WriteRelay(JsonWriter& json, const Options& options, const Findings& f, uint64_t sprites) {
  json.Open("relay", '{').Open("pids", '[');
  for (const int pid : options.watch_pids) {
    json.Whole({}, static_cast<unsigned>(pid));
  }
  json.Close(']');
  WriteUse(json, f.window_begin.relay, f.window_end.relay, sprites, WindowSeconds(f));
  json.Open("rssBytes", '{').Whole("before", f.relay_rss_before);
  json.Whole("parked", f.relay_rss_parked).Whole("end", f.relay_rss_end).Close('}');
  const double grown =
      static_cast<double>(f.relay_rss_parked) - static_cast<double>(f.relay_rss_before);
  json.Real("bytesPerParkedPoll", f.parked == 0 ? 0 : grown / static_cast<double>(f.parked));
  json.Close('}');
}

void WriteBuckets(JsonWriter& json, std::string_view key, const std::vector<Bucket>& buckets) {
  json.Open(key, '[');
  for (const Bucket& bucket : buckets) {
    json.Open('[').Whole({}, bucket.low).Whole({}, bucket.high).Whole({}, bucket.count).Close(']');
  }
  json.Close(']');
}

void WriteSecond(JsonWriter& json, std::string_view key, const Second& s) {
  json.Open(key, '{').Real("atS", s.at_s).Text("phase", s.phase).Whole("parked", s.parked);
  json.Whole("connections", s.connections).Whole("sent", s.sent).Whole("accepted", s.accepted);
  json.Whole("delivered", s.delivered).Whole("refused", s.refused).Whole("heard", s.heard);
  json.Whole("hearingsMissed", s.hearings_missed).Whole("bytesIn", s.bytes_in);
  json.Whole("p50Us", s.p50_us);
  json.Whole("p90Us", s.p90_us).Whole("p99Us", s.p99_us).Whole("p999Us", s.p999_us);
  json.Whole("maxUs", s.max_us).Real("relayCores", s.relay_cores);
  json.Real("swarmCores", s.swarm_cores).Whole("relayRssBytes", s.relay_rss_bytes);
  json.Whole("tcpMemoryBytes", s.tcp_memory_bytes).Whole("slabBytes", s.slab_bytes);
  WriteBuckets(json, "latencyBucketsNs", s.latency);
  json.Close('}');
}

void WriteSeconds(JsonWriter& json, const std::vector<Second>& seconds) {
  json.Open("seconds", '[');
  for (const Second& second : seconds) {
    WriteSecond(json, {}, second);
  }
  json.Close(']');
}

}  // namespace

Limit LimitOf(const Options& options, const Findings& findings) {
  if (options.mode == Mode::kSitting && CountIn(options.mix, Behaviour::kTalking) == 0) {
    return {};
  }
  const double busiest = BusiestCores(findings);
  const uint64_t slip_ns = findings.slip.Percentile(0.99);
  if (findings.total.skipped > 0 && findings.total.addresses_exhausted > 0) {
    return {"swarm", "it ran out of local ports: use more --sources"};
  }
  if (busiest > kBusyCores) {
    return {"swarm", "one of its processes used more than 90 % of a core: use more --processes"};
  }
  if (findings.total.paced * kPacedShare > findings.total.offered) {
    return {"swarm",
            "one throw in a hundred waited because a socket may send only 450 messages a second: "
            "use more desktops that throw"};
  }
  const double relay_cores =
      WindowSeconds(findings) > 0
          ? (findings.window_end.relay.cpu_s - findings.window_begin.relay.cpu_s) /
                WindowSeconds(findings)
          : 0;
  if (options.mode == Mode::kClosed) {
    if (relay_cores > kBusyCores) {
      return {"relay", "it used more than 90 % of a core"};
    }
    return {};
  }
  if (findings.total.missed > 0) {
    return {"swarm",
            "it was not running when throws were due, and missed them: its machine was overloaded "
            "or its processes were stopped"};
  }
  const double slip_max_ms = options.slip_max_s * 1000;
  if (static_cast<double>(slip_ns) > slip_max_ms * kNsPerMs) {
    std::array<char, 32> shown;
    std::snprintf(shown.data(), shown.size(), "%g ms", slip_max_ms);
    return {"swarm", "one throw in a hundred left more than " + std::string(shown.data()) +
                         " behind its schedule, so the swarm or its machine was overloaded"};
  }
  const auto offered = static_cast<double>(Growth(findings, &Counters::offered) +
                                           Growth(findings, &Counters::skipped));
  const auto delivered = static_cast<double>(Growth(findings, &Counters::delivered));
  const uint64_t backlog = findings.total.skipped;
  // A machine of a fleet may catch less than it throws: the others have the rest.
  if (options.machines == 1 && offered > 0 && delivered < kAchievedShare * offered) {
    return {"relay", "it delivered less than 99 % of the throws offered in the measured window"};
  }
  if (backlog > 0) {
    return {"relay", "it answered throws too slowly for all of them to be sent"};
  }
  return {};
}

std::string ReportJson(const Options& options, const Findings& findings) {
  const uint64_t sprites = Growth(findings, &Counters::delivered);
  const double seconds = WindowSeconds(findings);
  const auto per_second = [&](uint64_t n) {
    return seconds > 0 ? static_cast<double>(n) / seconds : 0;
  };
  JsonWriter json;
  json.Open('{').Text("phase", "done").Flag("ok", findings.ok).Text("message", findings.message);
  WriteOptions(json, options);
  json.Whole("startedAtMs", findings.started_at_ms);
  json.Whole("drainedAtMs", findings.drained_at_ms).Whole("parked", findings.parked);
  WriteThrows(json, findings);
  if (options.machines > 1) {
    json.Open("visitors", '{')
        .Whole("machines", options.machines)
        .Whole("delivered", findings.total.visitors);
    json.Text("table", findings.visitors.ToHex()).Close('}');
  }
  json.Open("window", '{').Real("seconds", seconds);
  json.Whole("fromMs", findings.window_begin.at_ms);
  json.Whole("untilMs", findings.window_end.at_ms);
  json.Whole("offered", Growth(findings, &Counters::offered));
  json.Whole("sent", Growth(findings, &Counters::sent));
  json.Whole("accepted", Growth(findings, &Counters::accepted)).Whole("delivered", sprites);
  json.Real("offeredPerS", per_second(Growth(findings, &Counters::offered)));
  json.Real("deliveredPerS", per_second(sprites)).Close('}');
  WriteLatency(json, "latencyUs", findings.latency);
  WriteLatency(json, "awayUs", findings.away);
  WriteLatency(json, "answerUs", findings.answer);
  WriteLatency(json, "slipUs", findings.slip);
  WriteLatency(json, "hearingUs", findings.hearing);
  WriteSayings(json, findings);
  WritePeeks(json, findings);
  WriteTraffic(json, findings.total, findings.connect_s);
  if (!options.watch_pids.empty()) {
    WriteRelay(json, options, findings, sprites);
  }
  json.Open("swarm", '{');
  WriteUse(json, findings.window_begin.swarm, findings.window_end.swarm, sprites, seconds);
  json.Real("busiestProcessCores", BusiestCores(findings));
  json.Whole("rssBytes", findings.swarm_rss_parked).Close('}');
  json.Open("kernel", '{');
  WriteKernel(json, "before", findings.kernel_before);
  WriteKernel(json, "parked", findings.kernel_parked);
  WriteKernel(json, "end", findings.kernel_end);
  json.Close('}');
  const Limit limit = LimitOf(options, findings);
  json.Text("limit", limit.what).Text("limitReason", limit.reason);
  WriteSeconds(json, findings.seconds);
  WriteBuckets(json, "latencyBucketsNs", BucketsOf(findings.latency));
  WriteBuckets(json, "awayBucketsNs", BucketsOf(findings.away));
  WriteBuckets(json, "answerBucketsNs", BucketsOf(findings.answer));
  WriteBuckets(json, "slipBucketsNs", BucketsOf(findings.slip));
  WriteBuckets(json, "hearingBucketsNs", BucketsOf(findings.hearing));
  json.Close('}');
  return json.text();
}

std::vector<Bucket> BucketsOf(const Histogram& histogram) {
  std::vector<Bucket> buckets;
  histogram.ForEach([&](uint64_t low, uint64_t high, uint64_t count) {
    buckets.push_back({low, high, count});
  });
  return buckets;
}

std::string SecondJson(const Second& second) {
  JsonWriter json;
  json.Open('{');
  WriteSecond(json, "second", second);
  json.Close('}');
  return json.text();
}

std::string SecondLine(const Second& s) {
  std::array<char, 256> line;
  std::snprintf(line.data(), line.size(),
                "%6.1f s  %-8.*s parked %7lu  sent %7lu  delivered %7lu  refused %5lu  p50 %6lu us"
                "  p99 %7lu us  max %8lu us  relay %4.2f  swarm %4.2f cores",
                s.at_s, static_cast<int>(s.phase.size()), s.phase.data(), s.parked, s.sent,
                s.delivered, s.refused, s.p50_us, s.p99_us, s.max_us, s.relay_cores, s.swarm_cores);
  return line.data();
}

}  // namespace swarm
