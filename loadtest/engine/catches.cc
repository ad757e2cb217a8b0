#include "catches.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "sprite_tag.h"

namespace swarm {

Catches::Catches(Stage& stage, const std::vector<int>& doorbells)
    : stage_(stage), doorbells_(doorbells) {}

void Catches::Catch(Desktop& desktop, uint32_t index, const SpriteEvent& event, int64_t now_ns) {
  Counters& counters = stage_.counters;
  ++counters.arrivals;
  if (desktop.has_seq && event.seq <= desktop.last_seq) {
    ++counters.out_of_order;
  }
  desktop.has_seq = true;
  desktop.last_seq = static_cast<uint32_t>(event.seq);

  SpriteTag tag;
  if (!ReadSpriteTag(event.name, &tag) || tag.run != stage_.run_id ||
      tag.slice >= stage_.run.slices() || tag.desktop >= stage_.options.desktops) {
    ++counters.foreign;
    return;
  }
  Ledger ledger = stage_.run.ledger(tag.slice);
  if (!ledger.thrown(tag.number)) {
    ++counters.foreign;
    return;
  }
  const bool wrong = event.edge != NameOf(Opposite(tag.edge)) || !IsFrom(tag.desktop, event.from);
  const Fingerprint here =
      stage_.run.fingerprint(stage_.GlobalIndex(index)).load(std::memory_order_relaxed);
  const Ledger::Outcome outcome = ledger.Deliver(tag.number, here, wrong);
  if (!outcome.first) {
    ++counters.duplicated;
    return;
  }
  ++counters.delivered;
  if (IsPrompt(desktop.behaviour)) {
    Time(tag.due_ns, now_ns);
  } else {
    ++counters.untimed;
  }
  if (outcome.complete && stage_.options.mode == Mode::kClosed) {
    Complete(tag.slice);
  }
}

bool Catches::IsFrom(uint32_t index, std::string_view id) {
  const Fingerprint from = FingerprintOf(id);
  // Who joined anew has another id than when it threw.
  return from == stage_.run.fingerprint(index).load(std::memory_order_relaxed) ||
         stage_.departed.Has(from);
}

void Catches::Time(int64_t due_ns, int64_t now_ns) {
  const int64_t latency_ns = std::max<int64_t>(now_ns - due_ns, 0);
  if (static_cast<double>(latency_ns) > stage_.options.late_after_s * kNsPerSecond) {
    ++stage_.counters.late;
  }
  Histogram& histogram =
      stage_.InWindow(due_ns) ? stage_.board.latency : stage_.board.latency_unmeasured;
  histogram.Record(static_cast<uint64_t>(latency_ns));
}

void Catches::Complete(uint32_t slice) {
  if (slice == stage_.slice) {
    ++completed_;
    return;
  }
  stage_.run.board(slice).completed.fetch_add(1, std::memory_order_release);
  if (std::find(to_ring_.begin(), to_ring_.end(), slice) == to_ring_.end()) {
    to_ring_.push_back(slice);
  }
}

uint64_t Catches::TakeCompleted() { return std::exchange(completed_, 0); }

void Catches::RingDoorbells() {
  for (const uint32_t slice : to_ring_) {
    const uint64_t one = 1;
    // A full counter (2^64 − 1 unread rings) is the only way this fails, and then the bell rings
    // anyway.
    [[maybe_unused]] const ssize_t written = write(doorbells_[slice], &one, sizeof(one));
  }
  to_ring_.clear();
}

}  // namespace swarm
