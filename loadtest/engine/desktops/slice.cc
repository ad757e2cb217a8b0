#include "desktops/slice.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace swarm {
namespace {

constexpr int kEventsPerTurnMax = 256;
constexpr int64_t kSweepNs = kNsPerSecond;  // between two looks at what is overdue
constexpr int64_t kSweepPartNs = kSweepNs / Throws::kSweeps;
constexpr int64_t kWaitNsMax = kNsPerSecond;

}  // namespace

Slice::Slice(const Options& options, SharedRun& run, uint32_t slice, uint32_t run_id,
             int64_t started_ns, const std::vector<int>& doorbells)
    : state_(options, run, slice, run_id, started_ns),
      doorbells_(doorbells),
      catches_(state_, doorbells),
      polls_(state_, catches_),
      sockets_(state_, polls_),
      joins_(state_, polls_),
      throws_(state_),
      sayings_(state_),
      peeks_(state_),
      hostiles_(state_),
      acts_(state_, polls_, hostiles_) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = TagOf(Part::kDoorbell, 0);
  if (epoll_ctl(state_.epoll, EPOLL_CTL_ADD, doorbells[slice], &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
  }
}

void Slice::Run() {
  uint64_t probed = 0;
  while (state_.phase != Phase::kEnd) {
    const uint64_t probe = state_.run.control().probe.load(std::memory_order_acquire);
    HandleDue(NowNs());
    catches_.RingDoorbells();
    state_.board.Publish(state_.counters);
    if (state_.phase < Phase::kDrain || state_.throwing_ended) {
      state_.board.entered.store(state_.phase, std::memory_order_release);
    }
    state_.board.probed.store(probed, std::memory_order_release);
    if (Wait()) {
      probed = probe;
    }
  }
  state_.board.Publish(state_.counters);
}

void Slice::EnterPhase() {
  RunControl& control = state_.run.control();
  const Phase phase = control.phase.load(std::memory_order_acquire);
  if (phase == state_.phase) {
    return;
  }
  const Phase before = std::exchange(state_.phase, phase);
  // A slice that was not running may have missed a phase: what was due in it still counts.
  const int64_t from_ns = control.throw_from_ns.load(std::memory_order_relaxed);
  if (before < Phase::kThrow && phase >= Phase::kThrow && from_ns > 0) {
    state_.measure_from_ns = control.measure_from_ns.load(std::memory_order_relaxed);
    state_.measure_until_ns = control.measure_until_ns.load(std::memory_order_relaxed);
    throws_.Begin(from_ns, state_.measure_until_ns);
    sayings_.Begin(from_ns, state_.measure_until_ns);
    peeks_.Begin(from_ns, state_.measure_until_ns);
    acts_.Begin(from_ns);
  }
  if (phase == Phase::kLeave) {
    joins_.BeginLeaving();
  }
}

void Slice::HandleDue(int64_t now_ns) {
  EnterPhase();
  OpenSenders();
  HandleBroken();
  joins_.Turn(now_ns);
  StartPolls();
  HandleCalendar(now_ns);
  HandleNews();
  FreeCompleted();
  sayings_.Turn(now_ns);  // the end of throwing is that of talking too
  throws_.Turn(now_ns);
  Sweep(now_ns);
}

void Slice::OpenSenders() {
  // None to leave with: desktops that are not all parked leave without having thrown.
  if (state_.options.throw_each || state_.phase == Phase::kLeave) {
    state_.ready_senders.clear();
  }
  // Only when all desktops are parked: a relay closes connections that stay idle for some seconds.
  while (state_.phase != Phase::kConnect && !state_.ready_senders.empty() &&
         state_.connecting < kConnectingMax) {
    throws_.OpenConnection(state_.ready_senders.front());
    state_.ready_senders.pop_front();
  }
}

void Slice::HandleNews() {
  const auto tell = [](auto& owner, uint32_t sender, const SocketNews& news) {
    switch (news.what) {
      case SocketNews::What::kOpened:
        owner.OnOpen(sender);
        break;
      case SocketNews::What::kBroken:
        owner.OnBroken(sender);
        break;
      case SocketNews::What::kVerdict:
        owner.OnMessage(sender, news.verdict);
        break;
    }
  };
  while (!state_.news.empty()) {
    const SocketNews news = state_.news.front();
    state_.news.pop_front();
    const Desktop& desktop = state_.desktops[news.desktop];
    if (desktop.sender == kNoSender) {  // a verdict for a desktop that sends nothing
      ++state_.counters.answers_bad;
    } else if (desktop.behaviour == Behaviour::kTalking) {
      tell(sayings_, desktop.sender, news);
    } else {
      tell(throws_, desktop.sender, news);
    }
  }
}

void Slice::HandleBroken() {
  while (!state_.broken.empty()) {
    if (state_.IsReady(state_.broken.front())) {
      polls_.OnBroken(state_.broken.front());
    }
    state_.broken.pop_front();
  }
}

void Slice::StartPolls() {
  while (!state_.polling.empty() && state_.connecting < kConnectingMax) {
    polls_.Start(state_.polling.front());
    state_.polling.pop_front();
  }
}

void Slice::HandleCalendar(int64_t now_ns) {
  Part part{};
  uint32_t index = 0;
  while (state_.PopDue(now_ns, &part, &index)) {
    switch (part) {
      case Part::kJoiner:
        joins_.Retry(index);
        break;
      case Part::kPoll:
        state_.polling.push_back(index);
        break;
      case Part::kSender:
        throws_.Retry(index);
        break;
      case Part::kTalker:
        sayings_.Retry(index);
        break;
      case Part::kPeeker:
        peeks_.Tick(index, now_ns);
        break;
      case Part::kPermit:
        throws_.FreePermits(1);
        break;
      case Part::kAct:
        acts_.Act(index, now_ns);
        break;
      case Part::kLateRead:
        if (state_.has_sockets()) {
          sockets_.ReadLate(index);
        } else {
          polls_.ReadLate(index);
        }
        break;
      case Part::kDoorbell:
        break;
    }
  }
}

void Slice::Sweep(int64_t now_ns) {
  // A slice that was not running reads the answers that have arrived meanwhile before it gives up
  // any of them as overdue.
  if (last_turn_ns_ != 0 && now_ns - last_turn_ns_ > kWaitNsMax + kSweepNs / 2) {
    next_sweep_ns_ = now_ns + kSweepNs;
  }
  last_turn_ns_ = now_ns;
  if (now_ns >= next_sweep_ns_) {
    next_sweep_ns_ = now_ns + kSweepPartNs;
    throws_.Sweep(now_ns);
    if (++sweeps_ % Throws::kSweeps == 0) {
      joins_.Sweep(now_ns);
      polls_.Sweep(now_ns);
      sayings_.Sweep(now_ns);
      peeks_.Sweep(now_ns);
    }
  }
}

void Slice::FreeCompleted() {
  if (state_.options.mode != Mode::kClosed) {
    return;
  }
  const uint64_t elsewhere = state_.board.completed.load(std::memory_order_acquire);
  throws_.FreePermits(catches_.PopCompleted() + elsewhere - completed_elsewhere_);
  completed_elsewhere_ = elsewhere;
}

bool Slice::Wait() {
  std::array<epoll_event, kEventsPerTurnMax> events;
  const int64_t due_ns = std::min(
      {joins_.NextDue(), throws_.NextDue(), sayings_.NextDue(), state_.NextDue(), next_sweep_ns_});
  const auto wait_ns = std::clamp<int64_t>(due_ns - NowNs(), 0, kWaitNsMax);
  int count = -1;
  if (!wait_by_ms_) {
    const timespec wait{wait_ns / kNsPerSecond, wait_ns % kNsPerSecond};
    count = epoll_pwait2(state_.epoll, events.data(), kEventsPerTurnMax, &wait, nullptr);
    wait_by_ms_ = count < 0 && errno == ENOSYS;
  }
  if (wait_by_ms_) {
    // Rounded down: waking a little too often is better than waking late.
    count = epoll_wait(state_.epoll, events.data(), kEventsPerTurnMax,
                       static_cast<int>(wait_ns / kNsPerMs));
  }
  for (int i = 0; i < count; ++i) {
    HandleEvent(events[i].data.u64, events[i].events);
  }
  return count >= 0 && count < kEventsPerTurnMax;
}

void Slice::HandleEvent(uint64_t tag, uint32_t events) {
  const auto index = static_cast<uint32_t>(tag);
  switch (static_cast<Part>(tag >> 32U)) {
    case Part::kJoiner:
      joins_.OnEvent(index, events);
      break;
    case Part::kPoll:
      HandlePollEvent(index, events);
      break;
    case Part::kSender:
      throws_.OnEvent(index, events);
      break;
    case Part::kTalker:
      sayings_.OnEvent(index, events);
      break;
    case Part::kPeeker:
      peeks_.OnEvent(index, events);
      break;
    case Part::kDoorbell:
      ClearDoorbell();
      break;
    case Part::kPermit:
    case Part::kAct:
    case Part::kLateRead:
      break;  // these are calendar entries only
  }
}

void Slice::HandlePollEvent(uint32_t index, uint32_t events) {
  if (state_.desktops[index].behaviour == Behaviour::kHostile) {
    hostiles_.OnEvent(index, events);
  } else if (state_.has_sockets()) {
    sockets_.OnEvent(index, events);
    HandleNews();
  } else {
    polls_.OnEvent(index, events);
  }
}

void Slice::ClearDoorbell() {
  uint64_t rings = 0;
  // The reason for the ring is read at the start of every turn.
  [[maybe_unused]] const ssize_t got = read(doorbells_[state_.index], &rings, sizeof(rings));
}

}  // namespace swarm
