#include "run/run.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <random>

#include "desktops/slice.h"
#include "plan/schedule.h"
#include "run/start_signal.h"

namespace swarm {
namespace {

constexpr int64_t kTickNs = 5 * kNsPerMs;        // the parent checks this often
constexpr uint64_t kStartLeadMs = 100;           // more than kThrowLeadNs and some ticks
constexpr int64_t kThrowLeadNs = 20 * kNsPerMs;  // from the start of the phase to the first throw
constexpr int kReachTimeoutMs = 5'000;
constexpr int64_t kConnectStallNs = 15 * kNsPerSecond;  // three times the longest retry pause
// How long the slices may take to end, and what is added for each desktop: the kernel closes its
// connection, which takes some 20 µs of one core when millions close at once.
constexpr int64_t kEndTimeoutNs = 10 * kNsPerSecond;
constexpr int64_t kCloseTimeoutNs = 100'000;
// A slice that does not run for so long was stopped or has no core: its figures are missing.
constexpr int64_t kAcknowledgeNsMax = 30 * kNsPerSecond;
// What was accepted and has not arrived is lost when nothing is under way and nothing has arrived
// for so long: far longer than a relay needs for a sprite, also beside other programs. The relay's
// own gauge of waiting sprites, where it is known, has the last word (report/account.ts).
constexpr int64_t kQuietNs = kNsPerSecond;

volatile sig_atomic_t interrupted = 0;
void OnInterrupt(int /*signal*/) { interrupted = 1; }

void SleepUntil(int64_t when_ns) {
  const timespec when{when_ns / kNsPerSecond, when_ns % kNsPerSecond};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
}

[[noreturn]] void RunSlice(const Options& options, SharedRun& run, uint32_t slice, uint32_t run_id,
                           int64_t started_ns, const std::vector<int>& doorbells) {
  // The parent handles the interrupt and ends the slices. When it dies, they are killed.
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_TIMERSLACK, 1);  // ns; the default of 50 µs would delay throws
  int code = 0;
  try {
    Slice(options, run, slice, run_id, started_ns, doorbells).Run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "swarm-engine: slice %u: %s\n", slice, error.what());
    code = 1;
  }
  _exit(code);
}

// Makes a handshake and waits for it. Returns the empty string, or why it failed.
std::string WhyNoTls(const Endpoint& endpoint, int fd) {
  TlsSession session(*endpoint.tls, endpoint.host, fd);
  const int64_t until_ns = NowNs() + kReachTimeoutMs * kNsPerMs;
  for (;;) {
    switch (session.Advance()) {
      case TlsSession::Handshake::kDone:
        return {};
      case TlsSession::Handshake::kFailed:
        return session.WhyFailed();
      case TlsSession::Handshake::kUnfinished:
        break;
    }
    // The client waits for the server only: its own part is far smaller than a socket's buffer.
    pollfd wanted{fd, POLLIN, 0};
    const int64_t left_ms = (until_ns - NowNs()) / kNsPerMs;
    if (left_ms <= 0 || poll(&wanted, 1, static_cast<int>(left_ms)) == 0) {
      return "no TLS: the handshake took more than 5 s";
    }
  }
}

// Connects and closes the connection again. Returns the empty string, or why it failed.
std::string WhyUnreachable(const Endpoint& api) {
  const int fd = socket(api.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int error = 0;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&api.address), api.address_size) != 0) {
    error = errno;
    if (error == EINPROGRESS) {
      pollfd wanted{fd, POLLOUT, 0};
      socklen_t size = sizeof(error);
      error = ETIMEDOUT;
      if (poll(&wanted, 1, kReachTimeoutMs) == 1) {
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
      }
    }
  }
  std::string why = error == 0 ? "" : std::strerror(error);
  if (error == 0 && api.secure) {
    // OpenSSL writes without MSG_NOSIGNAL. For everything else a closed stdout ends the run.
    const auto before = signal(SIGPIPE, SIG_IGN);
    why = WhyNoTls(api, fd);
    signal(SIGPIPE, before);
  }
  close(fd);
  return why;
}

// Why the relay refused joins and polls.
std::string ReasonsOf(const Counters& counters) {
  std::string reasons;
  for (size_t i = 0; i < kProblemCodes.size(); ++i) {
    if (counters.other_refused_by_code[i] > 0) {
      reasons += (reasons.empty() ? " (" : ", ") + std::string(kProblemCodes[i]) + " " +
                 std::to_string(counters.other_refused_by_code[i]) + " times";
    }
  }
  return reasons.empty() ? reasons : reasons + ")";
}

uint64_t ArrivalsOf(const Counters& c) {
  return c.sprites_received + c.hearings + c.hearings_missed + c.answered + c.joins_accepted +
         c.leaves;
}

// What takes sayings with it that are on their way.
uint64_t BreaksOf(const Counters& c) {
  return c.polls_cut + c.polls_dropped + c.desktops_ended + c.moved + c.leaves;
}

}  // namespace

Run::Run(const Options& options)
    : options_(options),
      run_id_(options.machines == 1 ? std::random_device{}()
                                    : RunOf(options.fleet, options.machine)),
      run_(options) {
  for (uint32_t i = 0; i < options.processes; ++i) {
    doorbells_.push_back(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  }
}

Run::~Run() {
  for (const pid_t slice : slices_) {
    if (slice == 0) {
      continue;
    }
    kill(slice, SIGKILL);
    waitpid(slice, nullptr, 0);
  }
  for (const int doorbell : doorbells_) {
    close(doorbell);
  }
}

bool Run::Execute() {
  signal(SIGINT, OnInterrupt);
  signal(SIGTERM, OnInterrupt);
  started_ns_ = NowNs();
  findings_->started_at_ms = WallMs();
  next_second_ns_ = started_ns_ + kNsPerSecond;
  Findings& f = *findings_;
  f.kernel_before = ReadKernel();
  ProcessUse relay;
  if (!ReadProcesses(options_.watch_pids, true, &relay)) {
    Fail("--watch-pids: a process does not exist or cannot be read");
  } else {
    f.relay_rss_before = relay.rss_bytes;
    if (ReachRelays() && Fork()) {
      f.ok = Connect() && Throw() && Drain();
      if (options_.leave) {
        Leave();
      }
    }
  }
  End();
  SumUp();
  std::printf("%s\n", ReportJson(options_, f).c_str());
  std::fflush(stdout);
  if (!f.message.empty()) {
    std::fprintf(stderr, "swarm-engine: %s\n", f.message.c_str());
  }
  return f.ok;
}

bool Run::ReachRelays() {
  Endpoints endpoints(options_.ca);
  return std::all_of(options_.apis.begin(), options_.apis.end(), [&](const std::string& api) {
    const std::string why = WhyUnreachable(endpoints.At(endpoints.IndexOf(api)));
    return why.empty() || Fail("cannot reach a relay at " + api + ": " + why);
  });
}

bool Run::Fork() {
  std::fflush(stdout);
  for (uint32_t i = 0; i < options_.processes; ++i) {
    const pid_t pid = fork();
    if (pid < 0) {
      return Fail(std::string("cannot fork: ") + std::strerror(errno));
    }
    if (pid == 0) {
      RunSlice(options_, run_, i, run_id_, started_ns_, doorbells_);
    }
    slices_.push_back(pid);
  }
  return true;
}

bool Run::Connect() {
  PrintPhase("connect");
  Findings& f = *findings_;
  const uint32_t desktops = options_.desktops - CountIn(options_.mix, Behaviour::kHostile);
  if (!WaitForGrowth(&Counters::polls_held, desktops, "desktops are parked")) {
    return false;
  }
  PrintPhase("settle");
  SetPhase(Phase::kSettle);
  const uint64_t senders = ReadCounters().senders;
  if (!WaitForGrowth(&Counters::senders_opened, senders, "throwing connections are open") ||
      !WaitFor(NowNs() + Ns(options_.settle_s), [] { return false; })) {
    return false;
  }
  f.kernel_parked = ReadKernel();
  ProcessUse relay;
  ReadProcesses(options_.watch_pids, true, &relay);
  f.relay_rss_parked = relay.rss_bytes;
  ProcessUse swarm;
  ReadProcesses(slices_, true, &swarm);
  f.swarm_rss_parked = swarm.rss_bytes;
  return true;
}

bool Run::WaitForGrowth(uint64_t Counters::*counter, uint64_t wanted, const char* what) {
  Findings& f = *findings_;
  uint64_t reached = 0;
  uint64_t most = 0;
  int64_t grown_ns = NowNs();
  const bool going = WaitFor(NowNs() + Ns(options_.connect_timeout_s), [&] {
    reached = ReadCounters().*counter;
    if (reached > most) {
      most = reached;
      grown_ns = NowNs();
    }
    return reached == wanted || NowNs() - grown_ns > kConnectStallNs;
  });
  const Counters c = ReadCounters();
  f.parked = c.polls_held;
  if (reached == wanted && f.connect_s == 0) {
    f.connect_s = static_cast<double>(NowNs() - started_ns_) / kNsPerSecond;
  }
  if (!going || reached == wanted) {
    return going;
  }
  std::string why;
  if (c.addresses_exhausted > 0) {
    why = "; no local ports are left: use more --sources";
  } else if (c.handshakes_failed > 0) {
    why = "; " + std::to_string(c.handshakes_failed) + " TLS handshakes failed";
  } else if (c.joins_refused > 0) {
    why = "; the relay refused " + std::to_string(c.joins_refused) + " joins" + ReasonsOf(c);
  } else if (c.answers_bad > 0) {
    why = "; " + std::to_string(c.answers_bad) + " answers did not follow the protocol";
  }
  return Fail("only " + std::to_string(reached) + " of " + std::to_string(wanted) + " " + what +
              " and the number no longer grows" + why);
}

bool Run::AwaitStart(int64_t* from_ns) {
  PrintPhase("parked");
  StartSignal signal(STDIN_FILENO);
  StartSignal::State state = StartSignal::State::kWaiting;
  // The wall clock may be adjusted while the run waits, so the two clocks are compared shortly
  // before the first throw.
  const bool going = WaitFor(INT64_MAX, [&] {
    if (state == StartSignal::State::kWaiting) {
      state = signal.Poll();
    }
    return state == StartSignal::State::kClosed ||
           (state == StartSignal::State::kReceived &&
            WallMs() + kStartLeadMs >= signal.start_at_ms());
  });
  if (!going) {
    return false;
  }
  if (state == StartSignal::State::kClosed) {
    return Fail("the signal to start never came: stdin ended without a time");
  }
  const auto left_ms = static_cast<int64_t>(signal.start_at_ms()) - static_cast<int64_t>(WallMs());
  *from_ns = NowNs() + left_ms * kNsPerMs;
  return true;
}

bool Run::Throw() {
  RunControl& control = run_.control();
  int64_t from_ns = 0;
  if (options_.start_on_stdin && !AwaitStart(&from_ns)) {
    return false;
  }
  from_ns = std::max(from_ns, NowNs() + kThrowLeadNs);
  const int64_t measure_from_ns = from_ns + Ns(options_.warm_up_s);
  const int64_t measure_until_ns = measure_from_ns + Ns(options_.duration_s);
  control.throw_from_ns.store(from_ns, std::memory_order_relaxed);
  control.measure_from_ns.store(measure_from_ns, std::memory_order_relaxed);
  control.measure_until_ns.store(measure_until_ns, std::memory_order_relaxed);
  breaks_before_talk_ = BreaksOf(ReadCounters());
  PrintPhase("warmUp");
  SetPhase(Phase::kThrow);
  Findings& f = *findings_;
  // So that the window is defined even when the run ends early.
  f.window_begin = f.window_end = ReadMoment();
  if (!WaitFor(measure_from_ns, [] { return false; })) {
    return false;
  }
  f.window_begin = ReadMoment();
  PrintPhase("measure");
  const bool going = WaitFor(measure_until_ns, [] { return false; });
  f.window_end = ReadMoment();
  return going;
}

bool Run::Drain() {
  SetPhase(Phase::kDrain);
  PrintPhase("drain");  // after the slices have been woken for it, so that a reader knows they were
  if (!WaitForSlices(Phase::kDrain, "the end of throwing")) {
    return false;
  }
  // From here on no slice starts a throw. So a slice that shows none waiting and none in flight
  // will accept none, and the sums of one reading can be compared.
  const int64_t until_ns = NowNs() + Ns(options_.drain_s);
  bool has_arrived = false;
  bool is_quiet = false;
  const auto look = [&] {
    const Counters c = ReadCounters();
    is_quiet = IsQuiet(c, NowNs());
    // Nobody here knows how many sprites are with the other machines of a fleet.
    has_arrived = options_.machines == 1 && c.in_flight == 0 && c.waiting == 0 &&
                  c.arrived >= c.accepted && c.sayings_unanswered == 0 && c.peeks_unanswered == 0 &&
                  c.heard + c.hearings_missed >= c.hearings_owed;
    return has_arrived;
  };
  if (!WaitFor(until_ns, look)) {
    return false;
  }
  // The time is over. The rest is lost if it has been quiet for long enough, or stays so until
  // then.
  const uint64_t arrivals = arrivals_;
  const auto has_evidence = [&] {
    return look() || is_quiet || quiet_since_ns_ == 0 || arrivals_ != arrivals;
  };
  if (!has_arrived && !WaitFor(NowNs() + kAcknowledgeNsMax, has_evidence)) {
    return false;
  }
  findings_->is_rest_lost = is_quiet;
  // Between relays a saying may be lost without a word.
  findings_->may_be_gone =
      options_.apis.size() > 1 || BreaksOf(ReadCounters()) > breaks_before_talk_;
  findings_->drained_at_ms = WallMs();
  return true;
}

bool Run::WaitForSlices(Phase phase, const char* what) {
  uint32_t waits_for = 0;
  const auto all_entered = [&] {
    for (waits_for = 0; waits_for < run_.slices(); ++waits_for) {
      if (run_.board(waits_for).entered.load(std::memory_order_acquire) < phase) {
        return false;
      }
    }
    return true;
  };
  if (!WaitFor(NowNs() + kAcknowledgeNsMax, all_entered)) {
    return false;
  }
  return all_entered() || Fail("slice " + std::to_string(waits_for) +
                               " of the swarm did not run for 30 s and has not acknowledged " +
                               what + ": the result is partial");
}

bool Run::IsQuiet(const Counters& c, int64_t now_ns) {
  const uint64_t arrivals = ArrivalsOf(c);
  const bool is_idle = c.in_flight == 0 && c.waiting == 0 && c.sayings_unanswered == 0 &&
                       c.peeks_unanswered == 0 && c.reads_due == 0 && c.polls_held == c.joined &&
                       c.joined == findings_->parked;
  if (!is_idle || arrivals != arrivals_) {
    arrivals_ = arrivals;
    quiet_since_ns_ = is_idle ? now_ns : 0;
    probe_ = 0;
    return false;
  }
  if (quiet_since_ns_ == 0) {
    quiet_since_ns_ = now_ns;
  }
  if (now_ns - quiet_since_ns_ < kQuietNs) {
    return false;
  }
  // A slice that was not running has not read its sockets, so every slice is asked to.
  if (probe_ == 0) {
    probe_ = run_.control().probe.fetch_add(1, std::memory_order_acq_rel) + 1;
    RingDoorbells();
  }
  for (uint32_t i = 0; i < run_.slices(); ++i) {
    if (run_.board(i).probed.load(std::memory_order_acquire) < probe_) {
      return false;
    }
  }
  // `c` was read before the answers to the probe, so one more reading decides.
  return ArrivalsOf(ReadCounters()) == arrivals_;
}

void Run::Leave() {
  PrintPhase("leave");
  // Churning desktops have left before, so only the growth counts.
  const Counters before = ReadCounters();
  SetPhase(Phase::kLeave);
  WaitFor(NowNs() + Ns(options_.connect_timeout_s), [&] {
    const Counters c = ReadCounters();
    return c.leaves + c.leaves_failed >= before.leaves + before.leaves_failed + before.joined;
  });
}

void Run::End() {
  ProcessUse relay;
  if (ReadProcesses(options_.watch_pids, true, &relay)) {
    findings_->relay_rss_end = relay.rss_bytes;
  }
  findings_->kernel_end = ReadKernel();
  SetPhase(Phase::kEnd);
  const int64_t give_up_ns = NowNs() + kEndTimeoutNs + options_.desktops * kCloseTimeoutNs;
  for (pid_t& slice : slices_) {
    if (slice == 0) {
      continue;
    }
    while (waitpid(slice, nullptr, WNOHANG) == 0) {
      if (NowNs() > give_up_ns) {
        kill(slice, SIGKILL);
        Fail("a slice of the swarm did not run at the end: the result is partial");
      }
      SleepUntil(NowNs() + kTickNs);
    }
    slice = 0;
  }
}

void Run::SumUp() {
  Findings& f = *findings_;
  f.total = ReadCounters();
  for (uint32_t i = 0; i < run_.slices(); ++i) {
    SliceBoard& board = run_.board(i);
    for (const auto& [name, histogram] : kLatencies) {
      (f.*histogram).Merge(board.*histogram);
    }
    run_.ledger(i).Count(&f.fates);
    run_.sayings(i).Count(&f.hearings);
    f.visitors.Merge(board.visitors);
    if (options_.machines > 1) {
      run_.ledger(i).AddMissing(NumberInFleet(run_id_, i, 0), &f.visitors);
    }
  }
  f.fates.misrouted += f.total.visitors_misrouted;
  f.fates.corrupted += f.total.visitors_corrupted;
  f.lost = f.is_rest_lost ? f.fates.missing : 0;
  f.undelivered = f.fates.missing - f.lost;
  f.unheard = f.hearings.missing - std::min(f.hearings.missing, f.total.hearings_missed);
  f.scheduled = f.total.offered + f.total.skipped;
  f.scheduled_due = f.total.due;
  if (!f.ok) {
    return;
  }
  // The second account. Throwers and catchers counted separately during the run; both must agree
  // with the ledger. The schedule is counted once more here, independently of the slices.
  if (options_.mode == Mode::kOpen) {
    CountScheduled(&f.scheduled, &f.scheduled_due);
  }
  const auto compare = [&](const char* what, uint64_t counted, uint64_t other) {
    if (counted != other) {
      Fail(std::string("the accounts do not agree: ") + what + " " + std::to_string(counted) +
           " against " + std::to_string(other));
    }
  };
  compare("scheduled, by the schedule and by the slices:", f.scheduled,
          f.total.offered + f.total.skipped);
  compare("due in the window, by the schedule and by the slices:", f.scheduled_due, f.total.due);
  compare("thrown, by the ledger and by the slices:", f.fates.thrown, f.total.offered);
  compare("accepted, by the ledger and by the slices:", f.fates.accepted, f.total.accepted);
  compare("delivered, by the ledger and by the slices:", f.fates.delivered,
          f.total.delivered - f.total.visitors - f.fates.given_back);
  compare("arrived, by the ledger and by the slices:", f.fates.accepted - f.fates.missing,
          f.total.arrived);
  compare("heard, by the ledger and by the slices:", f.hearings.heard, f.total.heard);
  compare("owed, by the ledger and by the slices:", f.hearings.owed, f.total.hearings_owed);
}

void Run::CountScheduled(uint64_t* scheduled, uint64_t* due) const {
  const RunControl& control = run_.control();
  const int64_t measure_from_ns = control.measure_from_ns.load(std::memory_order_relaxed);
  *scheduled = 0;
  *due = 0;
  for (uint32_t i = 0; i < run_.slices(); ++i) {
    Schedule schedule(options_.arrivals, CurveOf(options_), i, run_.slices(), options_.seed,
                      control.throw_from_ns.load(std::memory_order_relaxed),
                      control.measure_until_ns.load(std::memory_order_relaxed));
    for (; schedule.due_ns() != INT64_MAX; schedule.Advance()) {
      ++*scheduled;
      *due += schedule.due_ns() >= measure_from_ns ? 1 : 0;
    }
  }
}

template <typename Done>
bool Run::WaitFor(int64_t until_ns, Done&& done) {
  for (;;) {
    const int64_t now_ns = NowNs();
    if (now_ns >= next_second_ns_) {
      PrintSecond(now_ns);
      if (!IsHealthy()) {
        return false;
      }
      next_second_ns_ += kNsPerSecond;
    }
    if (interrupted != 0) {
      return Fail("interrupted: the result is partial");
    }
    if (now_ns >= until_ns || done()) {
      return true;
    }
    SleepUntil(std::min(until_ns, now_ns + kTickNs));
  }
}

bool Run::IsHealthy() {
  for (size_t i = 0; i < slices_.size(); ++i) {
    int status = 0;
    if (slices_[i] == 0 || waitpid(slices_[i], &status, WNOHANG) == 0) {
      continue;
    }
    slices_[i] = 0;
    return Fail("slice " + std::to_string(i) + " of the swarm ended unexpectedly (" +
                (WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                     : "exit " + std::to_string(WEXITSTATUS(status))) +
                "): the result is partial");
  }
  if (const std::string wrong = last_.counters.Disagreement(); !wrong.empty()) {
    return Fail("the account does not add up: " + wrong);
  }
  ProcessUse ignored;
  if (!ReadProcesses(options_.watch_pids, false, &ignored)) {
    return Fail("a watched process of the relay has ended: the result is partial");
  }
  if (silent_seconds_ >= options_.gone_after_s) {
    return Fail("the relay is gone: for " + std::to_string(silent_seconds_) +
                " seconds it refused connections and answered nothing; the result is partial");
  }
  return true;
}

bool Run::Fail(std::string message) {
  findings_->ok = false;
  if (findings_->message.empty()) {
    findings_->message = std::move(message);
  }
  return false;
}

void Run::PrintPhase(std::string_view phase) {
  phase_name_ = phase;
  const double at_s = static_cast<double>(NowNs() - started_ns_) / kNsPerSecond;
  std::printf("%s\n", PhaseJson(phase, at_s, ReadCounters()).c_str());
  std::fflush(stdout);
}

void Run::SetPhase(Phase phase) {
  run_.control().phase.store(phase, std::memory_order_release);
  RingDoorbells();
}

void Run::RingDoorbells() {
  for (const int doorbell : doorbells_) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(doorbell, &one, sizeof(one));
  }
}

Counters Run::ReadCounters() {
  Counters sum;
  for (uint32_t i = 0; i < run_.slices(); ++i) {
    sum.Add(run_.board(i).Read());
  }
  return sum;
}

Moment Run::ReadMoment() {
  Moment moment;
  moment.at_ns = NowNs();
  moment.at_ms = WallMs();
  moment.counters = ReadCounters();
  ReadProcesses(options_.watch_pids, false, &moment.relay);
  for (const pid_t slice : slices_) {
    ProcessUse use;
    if (slice != 0) {
      ReadProcess(slice, false, &use);
    }
    moment.slices_s.push_back(use.cpu_s);
    moment.swarm.cpu_s += use.cpu_s;
    moment.swarm.user_s += use.user_s;
    moment.swarm.system_s += use.system_s;
  }
  return moment;
}

void Run::PrintSecond(int64_t now_ns) {
  Moment moment = ReadMoment();
  auto latency = std::make_unique<Histogram>();
  auto grown = std::make_unique<Histogram>();
  for (uint32_t i = 0; i < run_.slices(); ++i) {
    latency->Merge(run_.board(i).latency);
    latency->Merge(run_.board(i).latency_unmeasured);
  }
  grown->AssignDifference(*latency, *latency_before_);
  latency_before_ = std::move(latency);

  const Counters& now = moment.counters;
  const Counters& before = last_.counters;
  const double seconds =
      static_cast<double>(now_ns - (last_.at_ns == 0 ? started_ns_ : last_.at_ns)) / kNsPerSecond;
  Second second;
  second.at_s = static_cast<double>(now_ns - started_ns_) / kNsPerSecond;
  second.phase = phase_name_;
  second.parked = now.polls_held;
  second.connections = now.connections_open;
  second.sent = now.sent - before.sent;
  second.accepted = now.accepted - before.accepted;
  second.delivered = now.delivered - before.delivered;
  second.refused = now.refused - before.refused;
  second.heard = now.heard - before.heard;
  second.hearings_missed = now.hearings_missed - before.hearings_missed;
  second.bytes_in = now.bytes_in - before.bytes_in;
  second.latency = grown.get();
  if (last_.at_ns != 0) {
    second.relay_cores = (moment.relay.cpu_s - last_.relay.cpu_s) / seconds;
  }
  second.swarm_cores = (moment.swarm.cpu_s - last_.swarm.cpu_s) / seconds;
  second.relay_rss_bytes = moment.relay.rss_bytes;
  second.kernel = ReadKernel();
  std::fprintf(stderr, "%s\n", SecondLine(second).c_str());
  const std::string json = SecondJson(second);
  if (options_.print_seconds) {
    std::printf("{\"second\":%s}\n", json.c_str());
    std::fflush(stdout);
  }
  findings_->seconds.append(findings_->seconds.empty() ? "" : ",").append(json);

  const uint64_t heard = now.answered + now.polls_answered + now.joins_accepted;
  const uint64_t heard_before = before.answered + before.polls_answered + before.joins_accepted;
  const bool silent = heard == heard_before && now.connects_refused > before.connects_refused;
  silent_seconds_ = silent ? silent_seconds_ + 1 : 0;
  last_ = std::move(moment);
}

}  // namespace swarm
