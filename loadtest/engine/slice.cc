#include "slice.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace swarm {
namespace {

constexpr int kEventsPerTurnMax = 256;
constexpr int64_t kSweepNs = kNsPerSecond;
constexpr int64_t kLongestWaitNs = kNsPerSecond;

}  // namespace

Slice::Slice(const Options& options, SharedRun& run, uint32_t slice, uint32_t run_id,
             int64_t started_ns, const std::vector<int>& doorbells)
    : stage_(options, run, slice, run_id, started_ns),
      doorbells_(doorbells),
      catches_(stage_, doorbells),
      polls_(stage_, catches_),
      joins_(stage_, polls_),
      throws_(stage_),
      hostiles_(stage_),
      acts_(stage_, polls_, hostiles_) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = TagOf(Part::kDoorbell, 0);
  if (epoll_ctl(stage_.epoll, EPOLL_CTL_ADD, doorbells[slice], &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
  }
}

void Slice::Run() {
  while (stage_.phase != Phase::kEnd) {
    DoDue(NowNs());
    catches_.RingDoorbells();
    stage_.board.Publish(stage_.counters);
    Wait();
  }
  stage_.board.Publish(stage_.counters);
}

void Slice::EnterPhase() {
  Conductor& conductor = stage_.run.conductor();
  const Phase phase = conductor.phase.load(std::memory_order_acquire);
  if (phase == stage_.phase) {
    return;
  }
  stage_.phase = phase;
  if (phase == Phase::kThrow) {
    stage_.measure_from_ns = conductor.measure_from_ns.load(std::memory_order_relaxed);
    stage_.measure_until_ns = conductor.measure_until_ns.load(std::memory_order_relaxed);
    const int64_t from_ns = conductor.throw_from_ns.load(std::memory_order_relaxed);
    throws_.Begin(from_ns, stage_.measure_until_ns);
    acts_.Begin(from_ns);
  } else if (phase == Phase::kLeave) {
    joins_.BeginLeaving();
  }
}

void Slice::DoDue(int64_t now_ns) {
  EnterPhase();
  // Only when all desktops are parked: a relay closes connections on which nothing is asked for
  // some seconds.
  while (stage_.phase != Phase::kConnect && !stage_.ready_senders.empty() &&
         stage_.connecting < kConnectingMax) {
    throws_.Ready(stage_.ready_senders.front());
    stage_.ready_senders.pop_front();
  }
  joins_.Turn(now_ns);
  while (!stage_.polling.empty() && stage_.connecting < kConnectingMax) {
    polls_.Start(stage_.polling.front());
    stage_.polling.pop_front();
  }
  Part part{};
  uint32_t index = 0;
  while (stage_.PopTry(now_ns, &part, &index)) {
    switch (part) {
      case Part::kJoiner:
        joins_.Again(index);
        break;
      case Part::kPoll:
        stage_.polling.push_back(index);
        break;
      case Part::kSender:
        throws_.Again(index);
        break;
      case Part::kRelayPlace:
        throws_.FreePlaces(1);
        break;
      case Part::kAct:
        acts_.Do(index, now_ns);
        break;
      case Part::kLateRead:
        polls_.ReadLate(index);
        break;
      case Part::kDoorbell:
        break;
    }
  }
  FreeCompleted();
  throws_.Turn(now_ns);
  if (now_ns >= next_sweep_ns_) {
    next_sweep_ns_ = now_ns + kSweepNs;
    joins_.Sweep(now_ns);
    polls_.Sweep(now_ns);
    throws_.Sweep(now_ns);
  }
}

void Slice::FreeCompleted() {
  if (stage_.options.mode != Mode::kClosed) {
    return;
  }
  const uint64_t elsewhere = stage_.board.completed.load(std::memory_order_acquire);
  throws_.FreePlaces(catches_.TakeCompleted() + elsewhere - completed_elsewhere_);
  completed_elsewhere_ = elsewhere;
}

void Slice::Wait() {
  std::array<epoll_event, kEventsPerTurnMax> events;
  const int64_t due_ns =
      std::min({joins_.NextDue(), throws_.NextDue(), stage_.NextTry(), next_sweep_ns_});
  const int64_t wait_ns =
      stage_.options.spin ? 0 : std::clamp<int64_t>(due_ns - NowNs(), 0, kLongestWaitNs);
  int count = -1;
  if (!wait_by_ms_) {
    const timespec wait{wait_ns / kNsPerSecond, wait_ns % kNsPerSecond};
    count = epoll_pwait2(stage_.epoll, events.data(), kEventsPerTurnMax, &wait, nullptr);
    wait_by_ms_ = count < 0 && errno == ENOSYS;
  }
  if (wait_by_ms_) {
    // Rounded down: awake a little too often is better than late.
    count = epoll_wait(stage_.epoll, events.data(), kEventsPerTurnMax,
                       static_cast<int>(wait_ns / kNsPerMs));
  }
  for (int i = 0; i < count; ++i) {
    Serve(events[i].data.u64, events[i].events);
  }
}

void Slice::Serve(uint64_t tag, uint32_t events) {
  const auto index = static_cast<uint32_t>(tag);
  switch (static_cast<Part>(tag >> 32U)) {
    case Part::kJoiner:
      joins_.OnEvent(index, events);
      break;
    case Part::kPoll:
      if (stage_.desktops[index].behaviour == Behaviour::kHostile) {
        hostiles_.OnEvent(index, events);
      } else {
        polls_.OnEvent(index, events);
      }
      break;
    case Part::kSender:
      throws_.OnEvent(index, events);
      break;
    case Part::kDoorbell:
      AnswerDoorbell();
      break;
    case Part::kRelayPlace:
    case Part::kAct:
    case Part::kLateRead:
      break;  // of the calendar
  }
}

void Slice::AnswerDoorbell() {
  uint64_t rings = 0;
  // What the ring was about is read at the start of every turn.
  [[maybe_unused]] const ssize_t got = read(doorbells_[stage_.slice], &rings, sizeof(rings));
}

}  // namespace swarm
