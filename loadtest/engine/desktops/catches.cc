#include "desktops/catches.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "account/sprite_tag.h"

namespace swarm {

Catches::Catches(SliceState& slice, const std::vector<int>& doorbells)
    : slice_(slice),
      doorbells_(doorbells),
      heard_(slice.desktops.size()),
      seen_(CountIn(slice.options.mix, Behaviour::kPeeking) > 0 ? slice.desktops.size() : 0) {}

void Catches::Catch(Desktop& desktop, uint32_t index, const Arrival& event, int64_t now_ns) {
  Counters& counters = slice_.counters;
  if (desktop.has_seq && event.seq <= desktop.last_seq) {
    ++counters.out_of_order;
  }
  desktop.has_seq = true;
  desktop.last_seq = static_cast<uint32_t>(event.seq);

  SpriteTag tag;
  const bool has_tag = ReadSpriteTag(event.name, &tag);
  if (has_tag && IsVisitor(tag)) {
    CatchVisitor(desktop, tag, event, now_ns);
    return;
  }
  if (!has_tag || !IsOurs(tag) || !slice_.run.ledger(tag.slice).thrown(tag.number)) {
    ++counters.foreign;
    return;
  }
  Ledger ledger = slice_.run.ledger(tag.slice);
  const bool is_astray =
      event.edge != NameOf(Opposite(tag.edge)) || !IsFrom(tag.desktop, event.from);
  const bool is_corrupted = IsCorrupted(event, tag);
  const Fingerprint here =
      slice_.run.fingerprint(slice_.GlobalIndex(index)).load(std::memory_order_relaxed);
  const Ledger::Outcome outcome = ledger.Deliver(tag.number, here, is_astray, is_corrupted);
  Keep(desktop, tag);
  counters.arrived += outcome.arrived ? 1 : 0;
  if (!outcome.first) {
    ++counters.repeated;
    return;
  }
  ++counters.delivered;
  NoteExit(tag, index);
  RecordLatency(desktop, DueOf(tag), now_ns);
  if (outcome.complete && slice_.options.mode == Mode::kClosed) {
    CountCompleted(tag.slice);
  }
}

void Catches::CatchVisitor(Desktop& desktop, const SpriteTag& tag, const Arrival& event,
                           int64_t now_ns) {
  Counters& counters = slice_.counters;
  ++counters.delivered;
  ++counters.visitors;
  counters.visitors_misrouted += event.edge != NameOf(Opposite(tag.edge)) ? 1 : 0;
  counters.visitors_corrupted += IsCorrupted(event, tag) ? 1 : 0;
  slice_.board.visitors.TakeAway(NumberInFleet(tag.run, tag.slice, tag.number));
  Keep(desktop, tag);
  RecordLatency(desktop, DueOf(tag), now_ns);
}

void Catches::Hear(uint32_t index, const Arrival& saying, int64_t now_ns) {
  Counters& counters = slice_.counters;
  ++counters.hearings;
  SpriteTag tag;
  if (!ReadSpriteTag(saying.text, &tag) || !IsOurs(tag) ||
      !slice_.run.sayings(tag.slice).said(tag.number)) {
    ++counters.heard_foreign;
    return;
  }
  if (saying.text.substr(kSpriteTagBytes) != kSayingEnd || !IsFrom(tag.desktop, saying.from)) {
    ++counters.heard_corrupted;
  }
  if (!IsNew(index, tag)) {
    ++counters.heard_again;
    return;
  }
  ++counters.heard;
  slice_.run.sayings(tag.slice).Hear(tag.number);
  const int64_t due_ns = DueOf(tag);
  if (slice_.InWindow(due_ns) && IsPrompt(slice_.desktops[index].behaviour)) {
    const int64_t latency_ns = std::max<int64_t>(now_ns - due_ns, 0);
    slice_.board.hearing.Record(static_cast<uint64_t>(latency_ns));
  }
}

void Catches::See(uint32_t index, const Arrival& stage) {
  Counters& counters = slice_.counters;
  if (stage.elements == 0) {
    ++counters.watches_ended;
    return;
  }
  switch (seen_.See(index, FingerprintOf(stage.from), stage.number, stage.x, stage.y)) {
    case SeenStages::Kind::kNew:
      ++counters.stages_seen;
      break;
    case SeenStages::Kind::kOld:
      ++counters.stages_old;
      break;
    case SeenStages::Kind::kCorrupted:
      ++counters.stages_corrupted;
      break;
  }
}

bool Catches::IsOurs(const SpriteTag& tag) const {
  return tag.run == slice_.run_id && tag.slice < slice_.run.slices() &&
         tag.desktop < slice_.options.desktops;
}

bool Catches::IsVisitor(const SpriteTag& tag) const {
  return slice_.options.machines > 1 && FleetOf(tag.run) == slice_.options.fleet &&
         tag.run != slice_.run_id;
}

bool Catches::IsCorrupted(const Arrival& event, const SpriteTag& tag) const {
  return event.name.size() != kSpriteTagBytes ||
         !(event.flight == Flight(tag, slice_.options.pictures));
}

bool Catches::IsNew(uint32_t index, const SpriteTag& saying) {
  const auto number = static_cast<uint32_t>(saying.number);
  std::vector<LastHeard>& heard = heard_[index];
  const auto at = std::ranges::lower_bound(heard, saying.desktop, {}, &LastHeard::speaker);
  if (at == heard.end() || at->speaker != saying.desktop) {
    heard.insert(at, {saying.desktop, number});
    return true;
  }
  const bool is_new = number > at->number;
  at->number = std::max(at->number, number);
  return is_new;
}

void Catches::Keep(Desktop& desktop, const SpriteTag& tag) {
  uint32_t at = free_;
  if (at == kNoCatch) {
    at = static_cast<uint32_t>(unacknowledged_.size());
    unacknowledged_.emplace_back();
  } else {
    free_ = unacknowledged_[at].next;
  }
  unacknowledged_[at] = {tag.number, tag.run, tag.slice, desktop.last_seq, desktop.unacknowledged};
  desktop.unacknowledged = at;
}

void Catches::GiveBack(Desktop& desktop, uint64_t acknowledged) {
  while (desktop.unacknowledged != kNoCatch) {
    const uint32_t at = desktop.unacknowledged;
    Unacknowledged& one = unacknowledged_[at];
    if (one.seq > acknowledged && one.run != slice_.run_id) {
      GiveBackVisitor(one);
    } else if (one.seq > acknowledged && slice_.run.ledger(one.slice).GiveBack(one.number)) {
      --slice_.counters.arrived;  // the sum of all slices counts: another one may have added it
    }
    desktop.unacknowledged = one.next;
    one.next = free_;
    free_ = at;
  }
}

void Catches::GiveBackVisitor(const Unacknowledged& visitor) {
  slice_.board.visitors.Add(NumberInFleet(visitor.run, visitor.slice, visitor.number));
  --slice_.counters.visitors;
  --slice_.counters.delivered;
  ++slice_.counters.repeated;  // it will be delivered where it arrives next
}

bool Catches::IsFrom(uint32_t index, std::string_view id) {
  const Fingerprint from = FingerprintOf(id);
  // A desktop that has joined again has another id than when it threw.
  return from == slice_.run.fingerprint(index).load(std::memory_order_relaxed) ||
         slice_.departed.Has(from);
}

void Catches::NoteExit(const SpriteTag& tag, uint32_t index) {
  if (slice_.options.apis.size() == 1) {
    return;
  }
  Exits& exits = slice_.run.exits(tag.desktop);
  const auto bit = static_cast<uint8_t>(1U << static_cast<unsigned>(tag.edge));
  if (exits.relay.load(std::memory_order_relaxed) != slice_.desktops[index].relay) {
    ++slice_.counters.across;
    exits.across.fetch_or(bit, std::memory_order_relaxed);
  }
  exits.known.fetch_or(bit, std::memory_order_relaxed);
}

void Catches::RecordLatency(const Desktop& desktop, int64_t due_ns, int64_t now_ns) {
  const int64_t latency_ns = std::max<int64_t>(now_ns - due_ns, 0);
  if (!IsPrompt(desktop.behaviour)) {
    ++slice_.counters.away;
    if (slice_.InWindow(due_ns)) {
      slice_.board.away.Record(static_cast<uint64_t>(latency_ns));
    }
    return;
  }
  if (static_cast<double>(latency_ns) > slice_.options.late_after_s * kNsPerSecond) {
    ++slice_.counters.late;
  }
  Histogram& histogram =
      slice_.InWindow(due_ns) ? slice_.board.latency : slice_.board.latency_unmeasured;
  histogram.Record(static_cast<uint64_t>(latency_ns));
}

void Catches::CountCompleted(uint32_t slice) {
  if (slice == slice_.index) {
    ++completed_;
    return;
  }
  slice_.run.board(slice).completed.fetch_add(1, std::memory_order_release);
  if (std::find(to_ring_.begin(), to_ring_.end(), slice) == to_ring_.end()) {
    to_ring_.push_back(slice);
  }
}

uint64_t Catches::PopCompleted() { return std::exchange(completed_, 0); }

void Catches::RingDoorbells() {
  for (const uint32_t slice : to_ring_) {
    const uint64_t one = 1;
    // This fails only when the counter is full (2^64 − 1 unread rings), and then the slice wakes
    // anyway.
    [[maybe_unused]] const ssize_t written = write(doorbells_[slice], &one, sizeof(one));
  }
  to_ring_.clear();
}

}  // namespace swarm
