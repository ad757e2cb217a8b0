#include "run/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "plan/clock.h"

namespace swarm {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kBusyCores = 0.9;       // a thread with less than a tenth of its core left
constexpr double kAchievedShare = 0.99;  // of the offered throws
constexpr uint64_t kPacedShare = 100;    // one throw in so many waited for its socket's pace

// To three decimal places: no figure of a run is more exact.
double Rounded(double value) { return std::round(value * 1000) / 1000; }

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

Json LatencyJson(const Histogram& histogram) {
  const auto us = [](double ns) { return Rounded(ns / kNsPerUs); };
  const auto quantile = [&](double share) {
    return us(static_cast<double>(histogram.Percentile(share)));
  };
  return {{"count", histogram.count()},
          {"mean", us(histogram.mean())},
          {"p50", quantile(0.5)},
          {"p90", quantile(0.9)},
          {"p99", quantile(0.99)},
          {"p999", quantile(0.999)},
          {"max", us(static_cast<double>(histogram.max()))}};
}

Json BucketsJson(const Histogram& histogram) {
  Json buckets = Json::array();
  histogram.ForEach([&](uint64_t low, uint64_t high, uint64_t count) {
    buckets.push_back(Json::array({low, high, count}));
  });
  return buckets;
}

Json CodesJson(const std::array<uint64_t, kProblemCodes.size()>& counts) {
  Json codes = Json::object();
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) {
      codes[std::string(kProblemCodes[i])] = counts[i];
    }
  }
  return codes;
}

Json KernelJson(const KernelUse& use) {
  return {{"tcpMemoryBytes", use.tcp_memory_bytes}, {"slabBytes", use.slab_bytes}};
}

Json UseJson(const ProcessUse& begin, const ProcessUse& end, uint64_t sprites, double seconds) {
  // CPU time is exact, its parts are known only in ticks: use their proportion.
  const double user_s = end.user_s - begin.user_s;
  const double system_s = end.system_s - begin.system_s;
  const double user_share = user_s + system_s > 0 ? user_s / (user_s + system_s) : 0;
  const double cpu_s = end.cpu_s - begin.cpu_s;
  const double cpu_us = UsPerSprite(cpu_s, sprites);
  return {{"cpuUsPerSprite", Rounded(cpu_us)},
          {"userUsPerSprite", Rounded(cpu_us * user_share)},
          {"systemUsPerSprite", Rounded(cpu_us * (1 - user_share))},
          {"cpuCores", Rounded(seconds > 0 ? cpu_s / seconds : 0)}};
}

Json OptionsJson(const Options& options) {
  constexpr std::array<std::string_view, 3> kModes = {"sitting", "open", "closed"};
  constexpr std::array<std::string_view, 2> kTransports = {"poll", "socket"};
  return {{"mode", kModes[static_cast<size_t>(options.mode)]},
          {"transport", kTransports[static_cast<size_t>(options.transport)]},
          {"desktops", options.desktops},
          {"senders", options.senders},
          {"processes", options.processes},
          {"rate", Rounded(options.rate)},
          {"seed", options.seed}};
}

Json ThrowsJson(const Findings& f) {
  const Counters& c = f.total;
  const Fates& fates = f.fates;
  // What was given back and has not arrived again is with no desktop.
  const uint64_t received = c.sprites_received - fates.given_back;
  return {{"scheduled", f.scheduled},
          {"due", f.scheduled_due},
          {"thrown", fates.thrown},
          {"offered", c.offered},
          {"skipped", c.skipped},
          {"missed", c.missed},
          {"waiting", c.waiting},
          {"sent", c.sent},
          {"resent", c.resent},
          {"answered", c.answered},
          {"accepted", c.accepted},
          {"refused", c.refused},
          {"unexpected", c.unexpected},
          {"timedOut", c.timed_out},
          {"failed", c.failed},
          {"inFlight", c.in_flight},
          {"abandoned", c.abandoned},
          {"refusedByCode", CodesJson(c.refused_by_code)},
          {"delivered", fates.delivered + c.visitors},
          {"arrived", c.arrived},
          {"undelivered", f.undelivered},
          {"lost", f.lost},
          {"received", received},
          {"repeated", c.repeated},
          {"duplicated", fates.duplicated},
          {"misrouted", fates.misrouted},
          {"corrupted", fates.corrupted},
          {"forwarded", fates.forwarded},
          {"away", c.away},
          {"across", c.across},
          {"late", c.late},
          {"outOfOrder", c.out_of_order},
          {"deliveredUnaccepted", fates.delivered_unaccepted},
          {"foreign", c.foreign}};
}

Json SayingsJson(const Findings& f) {
  const Counters& c = f.total;
  const uint64_t gone = f.is_rest_lost && f.may_be_gone ? f.unheard : 0;
  const uint64_t lost = f.is_rest_lost && !f.may_be_gone ? f.unheard : 0;
  return {{"due", c.sayings_due},
          {"skipped", c.sayings_skipped},
          {"said", c.said},
          {"resent", c.sayings_resent},
          {"accepted", c.sayings_accepted},
          {"refused", c.sayings_refused},
          {"timedOut", c.sayings_timed_out},
          {"failed", c.sayings_failed},
          {"unanswered", c.sayings_unanswered},
          {"owed", f.hearings.owed},
          {"heard", c.heard},
          {"unowed", f.hearings.unowed},
          {"missed", f.hearings.missing - f.unheard},
          {"gone", gone},
          {"underWay", f.is_rest_lost ? 0 : f.unheard},
          {"lost", lost},
          {"received", c.hearings},
          {"again", c.heard_again},
          {"foreign", c.heard_foreign},
          {"corrupted", c.heard_corrupted},
          {"heardInWindow", Growth(f, &Counters::heard)}};
}

Json RelayJson(const Options& options, const Findings& f, uint64_t sprites) {
  Json relay = {{"pids", options.watch_pids}};
  relay.update(UseJson(f.window_begin.relay, f.window_end.relay, sprites, WindowSeconds(f)));
  relay["rssBytes"] = {
      {"before", f.relay_rss_before}, {"parked", f.relay_rss_parked}, {"end", f.relay_rss_end}};
  const double grown =
      static_cast<double>(f.relay_rss_parked) - static_cast<double>(f.relay_rss_before);
  relay["bytesPerParkedPoll"] = Rounded(f.parked == 0 ? 0 : grown / static_cast<double>(f.parked));
  return relay;
}

Json WindowJson(const Findings& f) {
  const double seconds = WindowSeconds(f);
  const uint64_t offered = Growth(f, &Counters::offered);
  const uint64_t delivered = Growth(f, &Counters::delivered);
  const auto per_second = [&](uint64_t n) {
    return Rounded(seconds > 0 ? static_cast<double>(n) / seconds : 0);
  };
  return {{"seconds", Rounded(seconds)},
          {"fromMs", f.window_begin.at_ms},
          {"untilMs", f.window_end.at_ms},
          {"offered", offered},
          {"sent", Growth(f, &Counters::sent)},
          {"accepted", Growth(f, &Counters::accepted)},
          {"delivered", delivered},
          {"offeredPerS", per_second(offered)},
          {"deliveredPerS", per_second(delivered)}};
}

// The tables of counts: how polls, joins, connections and what desktops do besides went.
void AddTables(const Counters& c, double connect_s, Json* report) {
  (*report)["peeks"] = {{"due", c.peeks_due},        {"skipped", c.peeks_skipped},
                        {"sent", c.peeks_sent},      {"accepted", c.peeks_accepted},
                        {"hidden", c.peeks_hidden},  {"refused", c.peeks_refused},
                        {"failed", c.peeks_failed},  {"unanswered", c.peeks_unanswered},
                        {"posted", c.stages_posted}, {"seen", c.stages_seen},
                        {"old", c.stages_old},       {"corrupted", c.stages_corrupted},
                        {"ended", c.watches_ended}};
  (*report)["polls"] = {{"sent", c.polls_sent},
                        {"answered", c.polls_answered},
                        {"cut", c.polls_cut},
                        {"dropped", c.polls_dropped},
                        {"held", c.polls_held},
                        {"withSprites", c.polls_with_sprites},
                        {"withPing", c.polls_with_ping},
                        {"empty", c.polls_empty},
                        {"refused", c.polls_refused},
                        {"overdue", c.polls_overdue}};
  (*report)["joins"] = {{"sent", c.joins_sent},
                        {"accepted", c.joins_accepted},
                        {"refused", c.joins_refused},
                        {"failed", c.joins_failed},
                        {"desktopsEnded", c.desktops_ended},
                        {"moved", c.moved},
                        {"left", c.leaves},
                        {"leavesFailed", c.leaves_failed},
                        {"seconds", Rounded(connect_s)}};
  (*report)["connections"] = {{"connects", c.connects},
                              {"failed", c.connects_failed},
                              {"refused", c.connects_refused},
                              {"handshakesFailed", c.handshakes_failed},
                              {"addressesExhausted", c.addresses_exhausted},
                              {"cuts", c.cuts},
                              {"badAnswers", c.answers_bad},
                              {"bytesIn", c.bytes_in},
                              {"bytesOut", c.bytes_out}};
  (*report)["sockets"] = {{"opened", c.sockets_opened},
                          {"refused", c.sockets_refused},
                          {"pings", c.socket_pings},
                          {"closes", c.socket_closes},
                          {"paced", c.paced}};
  (*report)["behaviours"] = {
      {"reconnects", c.reconnects}, {"strikes", c.strikes}, {"strikesParried", c.strikes_parried}};
  (*report)["otherRefusedByCode"] = CodesJson(c.other_refused_by_code);
}

// Text from outside may be any bytes.
std::string TextOf(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What limited the run: the swarm, the relay, or neither.
struct Limit {
  std::string_view what = "none";
  std::string reason;
};

Limit LimitOf(const Options& options, const Findings& findings) {
  if (options.mode == Mode::kSitting && CountIn(options.mix, Behaviour::kTalking) == 0) {
    return {};
  }
  if (findings.total.skipped > 0 && findings.total.addresses_exhausted > 0) {
    return {"swarm", "it ran out of local ports: use more --sources"};
  }
  if (BusiestCores(findings) > kBusyCores) {
    return {"swarm", "one of its processes used more than 90 % of a core: use more --processes"};
  }
  if (findings.total.paced * kPacedShare > findings.total.offered) {
    return {"swarm",
            "one throw in a hundred waited because a socket may send only 450 messages a second: "
            "use more desktops that throw"};
  }
  if (options.mode == Mode::kClosed) {
    const double relay_s = findings.window_end.relay.cpu_s - findings.window_begin.relay.cpu_s;
    const bool is_busy = relay_s > kBusyCores * WindowSeconds(findings);
    return is_busy ? Limit{"relay", "it used more than 90 % of a core"} : Limit{};
  }
  if (findings.total.missed > 0) {
    return {"swarm",
            "it was not running when throws were due, and missed them: its machine was overloaded "
            "or its processes were stopped"};
  }
  const double slip_max_ms = options.slip_max_s * 1000;
  if (static_cast<double>(findings.slip.Percentile(0.99)) > slip_max_ms * kNsPerMs) {
    std::array<char, 32> shown;
    std::snprintf(shown.data(), shown.size(), "%g ms", slip_max_ms);
    return {"swarm", "one throw in a hundred left more than " + std::string(shown.data()) +
                         " behind its schedule, so the swarm or its machine was overloaded"};
  }
  const auto offered = static_cast<double>(Growth(findings, &Counters::offered) +
                                           Growth(findings, &Counters::skipped));
  const auto delivered = static_cast<double>(Growth(findings, &Counters::delivered));
  // A machine of a fleet may catch less than it throws: the others have the rest.
  if (options.machines == 1 && offered > 0 && delivered < kAchievedShare * offered) {
    return {"relay", "it delivered less than 99 % of the throws offered in the measured window"};
  }
  if (findings.total.skipped > 0) {
    return {"relay", "it answered throws too slowly for all of them to be sent"};
  }
  return {};
}

}  // namespace

std::string ReportJson(const Options& options, const Findings& f) {
  const uint64_t sprites = Growth(f, &Counters::delivered);
  const double seconds = WindowSeconds(f);
  Json report = {{"phase", "done"}, {"ok", f.ok}, {"message", f.message}};
  report.update(OptionsJson(options));
  report["startedAtMs"] = f.started_at_ms;
  report["drainedAtMs"] = f.drained_at_ms;
  report["parked"] = f.parked;
  report.update(ThrowsJson(f));
  if (options.machines > 1) {
    report["visitors"] = {{"machines", options.machines},
                          {"delivered", f.total.visitors},
                          {"table", f.visitors.ToHex()}};
  }
  report["window"] = WindowJson(f);
  report["sayings"] = SayingsJson(f);
  AddTables(f.total, f.connect_s, &report);
  if (!options.watch_pids.empty()) {
    report["relay"] = RelayJson(options, f, sprites);
  }
  report["swarm"] = UseJson(f.window_begin.swarm, f.window_end.swarm, sprites, seconds);
  report["swarm"]["busiestProcessCores"] = Rounded(BusiestCores(f));
  report["swarm"]["rssBytes"] = f.swarm_rss_parked;
  report["kernel"] = {{"before", KernelJson(f.kernel_before)},
                      {"parked", KernelJson(f.kernel_parked)},
                      {"end", KernelJson(f.kernel_end)}};
  const Limit limit = LimitOf(options, f);
  report["limit"] = limit.what;
  report["limitReason"] = limit.reason;
  for (const auto& [name, histogram] : kLatencies) {
    report[std::string(name) + "Us"] = LatencyJson(f.*histogram);
    report[std::string(name) + "BucketsNs"] = BucketsJson(f.*histogram);
  }
  // The seconds are text already: a run of days has very many.
  std::string text = TextOf(report);
  text.pop_back();
  return text + ",\"seconds\":[" + f.seconds + "]}";
}

std::string PhaseJson(std::string_view phase, double at_s, const Counters& c) {
  return TextOf({{"phase", phase},
                 {"atS", Rounded(at_s)},
                 {"joined", c.joined},
                 {"parked", c.polls_held},
                 {"sent", c.sent},
                 {"delivered", c.delivered}});
}

std::string SecondJson(const Second& s) {
  const auto us = [&s](double share) { return s.latency->Percentile(share) / kNsPerUs; };
  return TextOf({{"atS", Rounded(s.at_s)},
                 {"phase", s.phase},
                 {"parked", s.parked},
                 {"connections", s.connections},
                 {"sent", s.sent},
                 {"accepted", s.accepted},
                 {"delivered", s.delivered},
                 {"refused", s.refused},
                 {"heard", s.heard},
                 {"hearingsMissed", s.hearings_missed},
                 {"bytesIn", s.bytes_in},
                 {"p50Us", us(0.5)},
                 {"p90Us", us(0.9)},
                 {"p99Us", us(0.99)},
                 {"p999Us", us(0.999)},
                 {"maxUs", s.latency->max() / kNsPerUs},
                 {"relayCores", Rounded(s.relay_cores)},
                 {"swarmCores", Rounded(s.swarm_cores)},
                 {"relayRssBytes", s.relay_rss_bytes},
                 {"tcpMemoryBytes", s.kernel.tcp_memory_bytes},
                 {"slabBytes", s.kernel.slab_bytes},
                 {"latencyBucketsNs", BucketsJson(*s.latency)}});
}

std::string SecondLine(const Second& s) {
  const auto us = [&s](double share) { return s.latency->Percentile(share) / kNsPerUs; };
  std::array<char, 256> line;
  std::snprintf(line.data(), line.size(),
                "%6.1f s  %-8.*s parked %7lu  sent %7lu  delivered %7lu  refused %5lu  p50 %6lu us"
                "  p99 %7lu us  max %8lu us  relay %4.2f  swarm %4.2f cores",
                s.at_s, static_cast<int>(s.phase.size()), s.phase.data(), s.parked, s.sent,
                s.delivered, s.refused, us(0.5), us(0.99), s.latency->max() / kNsPerUs,
                s.relay_cores, s.swarm_cores);
  return line.data();
}

}  // namespace swarm
