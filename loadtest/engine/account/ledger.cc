#include "account/ledger.h"

namespace swarm {
namespace {

constexpr uint64_t kThrown = 1U << 0U;
constexpr uint64_t kAccepted = 1U << 1U;
constexpr uint64_t kMisrouted = 1U << 2U;
constexpr uint64_t kAbandoned = 1U << 3U;
constexpr uint64_t kCorrupted = 1U << 4U;
// Three bits that count: 0 until the sprite arrives first, then one more than its arrivals that
// were not given back. At seven the count stays: such a sprite is duplicated, whatever follows.
constexpr uint64_t kHeld = 1U << 5U;
constexpr uint64_t kHeldMask = 7 * kHeld;
constexpr uint64_t kHeldByNone = 1 * kHeld;
constexpr uint64_t kHeldByOne = 2 * kHeld;
constexpr unsigned kToShift = 8;
constexpr unsigned kAtShift = 36;
constexpr uint64_t kFingerprintMask = (1U << kFingerprintBits) - 1;
constexpr uint64_t kAtMask = kFingerprintMask << kAtShift;

Fingerprint ToOf(uint64_t word) {
  return static_cast<Fingerprint>((word >> kToShift) & kFingerprintMask);
}
Fingerprint AtOf(uint64_t word) {
  return static_cast<Fingerprint>((word >> kAtShift) & kFingerprintMask);
}
// What an arrival adds and a give-back takes away.
uint64_t StepOf(uint64_t word) { return (word & kHeldMask) == kHeldMask ? 0 : kHeld; }
bool IsMissing(uint64_t word) { return (word & kAccepted) != 0 && (word & kHeldMask) < kHeldByOne; }
bool IsComplete(uint64_t word) { return (word & kAccepted) != 0 && (word & kHeldMask) != 0; }

}  // namespace

void Ledger::Throw(uint64_t number) { words_[number].fetch_or(kThrown, std::memory_order_relaxed); }

Ledger::Outcome Ledger::Accept(uint64_t number, Fingerprint to) {
  const uint64_t before = words_[number].fetch_or(kAccepted | static_cast<uint64_t>(to) << kToShift,
                                                  std::memory_order_acq_rel);
  Outcome outcome;
  outcome.first = (before & kAccepted) == 0;
  outcome.arrived = outcome.first && (before & kHeldMask) >= kHeldByOne;
  outcome.complete = outcome.arrived && (before & kAbandoned) == 0;
  return outcome;
}

Ledger::Outcome Ledger::Deliver(uint64_t number, Fingerprint at, bool is_astray,
                                bool is_corrupted) {
  const uint64_t marks = (is_astray ? kMisrouted : 0) | (is_corrupted ? kCorrupted : 0) |
                         static_cast<uint64_t>(at) << kAtShift;
  const uint64_t before = Change(number, [marks](uint64_t word) {
    const uint64_t more = (word & kHeldMask) == 0 ? kHeldByOne : StepOf(word);
    return ((word & ~kAtMask) | marks) + more;
  });
  const uint64_t held = before & kHeldMask;
  Outcome outcome;
  outcome.first = held == 0;
  outcome.arrived = (before & kAccepted) != 0 && held < kHeldByOne;
  outcome.complete = outcome.arrived && outcome.first && (before & kAbandoned) == 0;
  return outcome;
}

bool Ledger::GiveBack(uint64_t number) {
  const uint64_t before = Change(number, [](uint64_t word) { return word - StepOf(word); });
  return (before & kAccepted) != 0 && (before & kHeldMask) == kHeldByOne;
}

template <typename Changed>
uint64_t Ledger::Change(uint64_t number, Changed changed) {
  uint64_t word = words_[number].load(std::memory_order_relaxed);
  while (!words_[number].compare_exchange_weak(word, changed(word), std::memory_order_acq_rel)) {
  }
  return word;
}

bool Ledger::Abandon(uint64_t number) {
  const uint64_t before = words_[number].fetch_or(kAbandoned, std::memory_order_acq_rel);
  return !IsComplete(before);
}

bool Ledger::thrown(uint64_t number) const {
  return number < capacity_ && (words_[number].load(std::memory_order_relaxed) & kThrown) != 0;
}

bool Ledger::complete(uint64_t number) const {
  return IsComplete(words_[number].load(std::memory_order_relaxed));
}

template <typename See>
void Ledger::ForEach(See see) const {
  for (uint64_t i = 0; i < capacity_; ++i) {
    const uint64_t word = words_[i].load(std::memory_order_relaxed);
    // Throws are numbered without gaps, so the first empty word comes after the last throw.
    if ((word & kThrown) == 0) {
      return;
    }
    see(i, word);
  }
}

void Ledger::Count(Fates* fates) const {
  ForEach([&](uint64_t, uint64_t word) {
    ++fates->thrown;
    if ((word & kAccepted) != 0) {
      ++fates->accepted;
    }
    const uint64_t held = word & kHeldMask;
    fates->given_back += held == kHeldByNone ? 1 : 0;
    fates->duplicated += held > kHeldByOne ? 1 : 0;
    if (held >= kHeldByOne) {
      ++fates->delivered;
      if ((word & kAccepted) == 0) {
        ++fates->delivered_unaccepted;
      }
    }
    fates->missing += IsMissing(word) ? 1 : 0;
    if ((word & kCorrupted) != 0) {
      ++fates->corrupted;
    }
    const bool astray = (word & kAccepted) != 0 && IsAstray(ToOf(word), AtOf(word));
    const bool forwarded = astray && departed_.Has(ToOf(word));
    if ((word & kMisrouted) != 0 || (astray && !forwarded)) {
      ++fates->misrouted;
    } else if (forwarded) {
      ++fates->forwarded;
    }
  });
}

void Ledger::AddMissing(uint64_t bits, BloomTable* table) const {
  ForEach([&](uint64_t number, uint64_t word) {
    if (IsMissing(word)) {
      table->Add(bits | number);
    }
  });
}

}  // namespace swarm
