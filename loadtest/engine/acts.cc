#include "acts.h"

namespace swarm {

void Acts::Begin(int64_t from_ns) {
  from_ns_ = from_ns;
  for (uint32_t i = 0; i < stage_.desktops.size(); ++i) {
    switch (stage_.desktops[i].behaviour) {
      case Behaviour::kStorming:
        stage_.TryAt(Part::kAct, i, from_ns + EveryNs());
        break;
      case Behaviour::kChurning:
      case Behaviour::kHostile: {
        const double share = stage_.random.Unit();
        const auto after_ns = static_cast<int64_t>(share * static_cast<double>(EveryNs()));
        stage_.TryAt(Part::kAct, i, from_ns + after_ns);
        break;
      }
      case Behaviour::kSitting:
      case Behaviour::kThrowing:
      case Behaviour::kSlow:
        break;
    }
  }
}

void Acts::Do(uint32_t index, int64_t now_ns) {
  if (stage_.phase != Phase::kThrow) {
    return;
  }
  int64_t again_ns = now_ns + EveryNs();
  switch (stage_.desktops[index].behaviour) {
    case Behaviour::kStorming:
      polls_.Reconnect(index);
      // The same moment for all, however long this turn took.
      again_ns = from_ns_ + ((now_ns - from_ns_) / EveryNs() + 1) * EveryNs();
      break;
    case Behaviour::kChurning:
      again_ns = now_ns + polls_.GoAway(index, now_ns, EveryNs());
      break;
    case Behaviour::kHostile:
      hostiles_.Strike(index);
      break;
    case Behaviour::kSitting:
    case Behaviour::kThrowing:
    case Behaviour::kSlow:
      return;
  }
  stage_.TryAt(Part::kAct, index, again_ns);
}

}  // namespace swarm
