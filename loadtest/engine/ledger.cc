#include "ledger.h"

namespace swarm {
namespace {

constexpr uint64_t kThrown = 1U << 0U;
constexpr uint64_t kAccepted = 1U << 1U;
constexpr uint64_t kDelivered = 1U << 2U;
constexpr uint64_t kDuplicated = 1U << 3U;
constexpr uint64_t kMisrouted = 1U << 4U;
constexpr uint64_t kRefused = 1U << 5U;
constexpr uint64_t kAbandoned = 1U << 6U;
constexpr unsigned kToShift = 8;
constexpr unsigned kAtShift = 36;
constexpr uint64_t kFingerprintMask = (1U << 28U) - 1;

Fingerprint ToOf(uint64_t word) {
  return static_cast<Fingerprint>((word >> kToShift) & kFingerprintMask);
}
Fingerprint AtOf(uint64_t word) {
  return static_cast<Fingerprint>((word >> kAtShift) & kFingerprintMask);
}

bool Differ(Fingerprint to, Fingerprint at) { return to != kNobody && at != kNobody && to != at; }

}  // namespace

Fingerprint FingerprintOf(std::string_view id) {
  uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : id) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  const auto print = static_cast<Fingerprint>((hash ^ (hash >> 32U)) & kFingerprintMask);
  return print == kNobody ? 1 : print;
}

void Ledger::Throw(uint64_t number) { words_[number].fetch_or(kThrown, std::memory_order_relaxed); }

Ledger::Outcome Ledger::Accept(uint64_t number, Fingerprint to) {
  const uint64_t before = words_[number].fetch_or(kAccepted | static_cast<uint64_t>(to) << kToShift,
                                                  std::memory_order_acq_rel);
  Outcome outcome;
  outcome.first = (before & kAccepted) == 0;
  const bool delivered = (before & kDelivered) != 0;
  outcome.complete = outcome.first && delivered && (before & kAbandoned) == 0;
  if (outcome.first && delivered && (before & kMisrouted) == 0 && Differ(to, AtOf(before))) {
    outcome.misrouted = true;
    words_[number].fetch_or(kMisrouted, std::memory_order_relaxed);
  }
  return outcome;
}

Ledger::Outcome Ledger::Deliver(uint64_t number, Fingerprint at, bool wrong) {
  // A second arrival must not mix its desktop into the first one's.
  const uint64_t seen = words_[number].load(std::memory_order_relaxed);
  const uint64_t place = (seen & kDelivered) != 0 ? 0 : static_cast<uint64_t>(at) << kAtShift;
  const uint64_t before = words_[number].fetch_or(kDelivered | place, std::memory_order_acq_rel);
  Outcome outcome;
  outcome.first = (before & kDelivered) == 0;
  const bool accepted = (before & kAccepted) != 0;
  outcome.complete = outcome.first && accepted && (before & kAbandoned) == 0;
  if ((before & kMisrouted) == 0 && (wrong || (accepted && Differ(ToOf(before), at)))) {
    outcome.misrouted = true;
  }
  const uint64_t marks = (outcome.first ? 0 : kDuplicated) | (outcome.misrouted ? kMisrouted : 0);
  if (marks != 0) {
    words_[number].fetch_or(marks, std::memory_order_relaxed);
  }
  return outcome;
}

void Ledger::Refuse(uint64_t number) {
  words_[number].fetch_or(kRefused, std::memory_order_relaxed);
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
    // Throws are numbered without a gap, so the first blank word is behind the last throw.
    if ((word & kThrown) == 0) {
      return;
    }
    ++fates->thrown;
    if ((word & kAccepted) != 0) {
      ++fates->accepted;
    }
    if ((word & kDelivered) != 0) {
      ++fates->delivered;
      if ((word & kAccepted) == 0) {
        ++fates->delivered_unaccepted;
      }
    } else if ((word & kAccepted) != 0) {
      ++fates->lost;
    }
    if ((word & kDuplicated) != 0) {
      ++fates->duplicated;
    }
    if ((word & kMisrouted) != 0) {
      ++fates->misrouted;
    }
  }
}

}  // namespace swarm
