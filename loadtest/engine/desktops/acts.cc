#include "desktops/acts.h"

namespace swarm {

void Acts::Begin(int64_t from_ns) {
  from_ns_ = from_ns;
  for (uint32_t i = 0; i < slice_.desktops.size(); ++i) {
    switch (slice_.desktops[i].behaviour) {
      case Behaviour::kStorming:
        slice_.ScheduleAt(Part::kAct, i, from_ns + EveryNs());
        break;
      case Behaviour::kChurning:
      case Behaviour::kHostile: {
        const double share = slice_.random.Unit();
        const auto after_ns = static_cast<int64_t>(share * static_cast<double>(EveryNs()));
        slice_.ScheduleAt(Part::kAct, i, from_ns + after_ns);
        break;
      }
      case Behaviour::kSitting:
      case Behaviour::kThrowing:
      case Behaviour::kTalking:
      case Behaviour::kPeeking:
      case Behaviour::kSlow:
        break;
    }
  }
}

void Acts::Act(uint32_t index, int64_t now_ns) {
  if (slice_.phase != Phase::kThrow) {
    return;
  }
  int64_t next_ns = now_ns + EveryNs();
  switch (slice_.desktops[index].behaviour) {
    case Behaviour::kStorming:
      polls_.Reconnect(index);
      // The same moment for all of them, however long this turn took.
      next_ns = from_ns_ + ((now_ns - from_ns_) / EveryNs() + 1) * EveryNs();
      break;
    case Behaviour::kChurning:
      next_ns = now_ns + polls_.TryLeave(index, now_ns, EveryNs());
      break;
    case Behaviour::kHostile:
      hostiles_.Strike(index);
      break;
    case Behaviour::kSitting:
    case Behaviour::kThrowing:
    case Behaviour::kTalking:
    case Behaviour::kPeeking:
    case Behaviour::kSlow:
      return;
  }
  slice_.ScheduleAt(Part::kAct, index, next_ns);
}

}  // namespace swarm
