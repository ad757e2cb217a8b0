#include "account/ledger.h"

namespace swarm {
namespace {

constexpr uint64_t kThrown = 1U << 0U;
constexpr uint64_t kAccepted = 1U << 1U;
constexpr uint64_t kDelivered = 1U << 2U;
constexpr uint64_t kDuplicated = 1U << 3U;
constexpr uint64_t kMisrouted = 1U << 4U;
constexpr uint64_t kAbandoned = 1U << 5U;
constexpr uint64_t kCorrupted = 1U << 6U;
constexpr uint64_t kGivenBack = 1U << 7U;
constexpr unsigned kToShift = 8;
constexpr unsigned kAtShift = 36;
constexpr uint64_t kFingerprintMask = (1U << kFingerprintBits) - 1;

Fingerprint ToOf(uint64_t word) {
  return static_cast<Fingerprint>((word >> kToShift) & kFingerprintMask);
}
Fingerprint AtOf(uint64_t word) {
  return static_cast<Fingerprint>((word >> kAtShift) & kFingerprintMask);
}

}  // namespace

void Ledger::Throw(uint64_t number) { words_[number].fetch_or(kThrown, std::memory_order_relaxed); }

Ledger::Outcome Ledger::Accept(uint64_t number, Fingerprint to) {
  const uint64_t before = words_[number].fetch_or(kAccepted | static_cast<uint64_t>(to) << kToShift,
                                                  std::memory_order_acq_rel);
  Outcome outcome;
  outcome.first = (before & kAccepted) == 0;
  outcome.arrived = outcome.first && (before & (kDelivered | kGivenBack)) == kDelivered;
  outcome.complete = outcome.arrived && (before & kAbandoned) == 0;
  return outcome;
}

Ledger::Outcome Ledger::Deliver(uint64_t number, Fingerprint at, bool is_astray,
                                bool is_corrupted) {
  // A second arrival must not OR its desktop into that of the first: it replaces it.
  const uint64_t seen = words_[number].load(std::memory_order_relaxed);
  const uint64_t at_bits = (seen & kDelivered) != 0 ? 0 : static_cast<uint64_t>(at) << kAtShift;
  const uint64_t before = words_[number].fetch_or(kDelivered | at_bits, std::memory_order_acq_rel);
  Outcome outcome;
  outcome.first = (before & kDelivered) == 0;
  const bool accepted = (before & kAccepted) != 0;
  outcome.arrived = outcome.first && accepted;
  outcome.complete = outcome.arrived && (before & kAbandoned) == 0;
  const uint64_t marks = (is_astray ? kMisrouted : 0) | (is_corrupted ? kCorrupted : 0);
  if (marks != 0) {
    words_[number].fetch_or(marks, std::memory_order_relaxed);
  }
  if (!outcome.first) {
    const uint64_t earlier = Change(number, [at](uint64_t word) {
      constexpr uint64_t kAtMask = kFingerprintMask << kAtShift;
      const uint64_t moved = (word & ~kAtMask) | static_cast<uint64_t>(at) << kAtShift;
      return (word & kGivenBack) != 0 ? moved & ~kGivenBack : moved | kDuplicated;
    });
    outcome.arrived = (earlier & (kAccepted | kGivenBack)) == (kAccepted | kGivenBack);
  }
  return outcome;
}

bool Ledger::GiveBack(uint64_t number) {
  const uint64_t before = Change(number, [](uint64_t word) {
    return (word & kDuplicated) != 0 ? word & ~kDuplicated : word | kGivenBack;
  });
  constexpr uint64_t kHere = kAccepted | kDelivered;
  return (before & (kHere | kDuplicated | kGivenBack)) == kHere;
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
  return (before & (kAccepted | kDelivered)) != (kAccepted | kDelivered);
}

bool Ledger::thrown(uint64_t number) const {
  return number < capacity_ && (words_[number].load(std::memory_order_relaxed) & kThrown) != 0;
}

bool Ledger::complete(uint64_t number) const {
  constexpr uint64_t kBoth = kAccepted | kDelivered;
  return (words_[number].load(std::memory_order_relaxed) & kBoth) == kBoth;
}

void Ledger::Count(Fates* fates) const {
  for (uint64_t i = 0; i < capacity_; ++i) {
    const uint64_t word = words_[i].load(std::memory_order_relaxed);
    // Throws are numbered without gaps, so the first empty word comes after the last throw.
    if ((word & kThrown) == 0) {
      return;
    }
    ++fates->thrown;
    if ((word & kAccepted) != 0) {
      ++fates->accepted;
    }
    const bool is_given_back = (word & kGivenBack) != 0;
    fates->given_back += is_given_back ? 1 : 0;
    if ((word & kDelivered) != 0 && !is_given_back) {
      ++fates->delivered;
      if ((word & kAccepted) == 0) {
        ++fates->delivered_unaccepted;
      }
    } else if ((word & kAccepted) != 0) {
      ++fates->missing;
    }
    if ((word & kCorrupted) != 0) {
      ++fates->corrupted;
    }
    if ((word & kDuplicated) != 0) {
      ++fates->duplicated;
    }
    const bool astray = (word & kAccepted) != 0 && IsAstray(ToOf(word), AtOf(word));
    const bool forwarded = astray && departed_.Has(ToOf(word));
    if ((word & kMisrouted) != 0 || (astray && !forwarded)) {
      ++fates->misrouted;
    } else if (forwarded) {
      ++fates->forwarded;
    }
  }
}

}  // namespace swarm
