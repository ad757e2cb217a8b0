// What became of every saying: one 64-bit word for each, in memory that all slices share.
//
// The slice that said it writes for how many desktops it is, as the relay's 202 says; those that
// hear it add one each. So how many hearings are owed, and how many of them came, are exact counts,
// in whichever processes speakers and hearers run.
//
// Memory: 8 bytes a saying, used when it is said. Cost: one locked instruction for each hearing.
#ifndef LOADTEST_ENGINE_ACCOUNT_SAYING_LEDGER_H_
#define LOADTEST_ENGINE_ACCOUNT_SAYING_LEDGER_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace swarm {

// Hearings: each saying counts once for each desktop.
struct HearingFates {
  uint64_t owed = 0;   // of sayings that the relay accepted
  uint64_t heard = 0;  // also those that were not owed
  // Heard, but by more desktops than the relay named, or although it refused or never answered.
  uint64_t unowed = 0;
  uint64_t missing = 0;  // owed and not heard
};

class SayingLedger {
 public:
  using Word = std::atomic<uint64_t>;

  // `words`: zeroed words in shared memory that outlives this.
  SayingLedger(Word* words, uint64_t capacity) : words_(words), capacity_(capacity) {}

  uint64_t capacity() const { return capacity_; }
  bool said(uint64_t number) const {
    return number < capacity_ && (words_[number].load(std::memory_order_relaxed) & kSaid) != 0;
  }

  void Say(uint64_t number) { words_[number].fetch_or(kSaid, std::memory_order_relaxed); }
  // The relay answered 202: so many desktops hear it, the speaker too.
  void Accept(uint64_t number, uint64_t hearers) {
    words_[number].fetch_or(std::min(hearers, kOwedMax) * kOwed, std::memory_order_relaxed);
  }
  void Hear(uint64_t number) { words_[number].fetch_add(kHeard, std::memory_order_relaxed); }

  void Count(HearingFates* fates) const {
    for (uint64_t number = 0; said(number); ++number) {
      const uint64_t word = words_[number].load(std::memory_order_relaxed);
      const uint64_t owed = word / kOwed & kOwedMax;
      const uint64_t heard = word / kHeard;
      fates->owed += owed;
      fates->heard += heard;
      fates->unowed += heard > owed ? heard - owed : 0;
      fates->missing += owed > heard ? owed - heard : 0;
    }
  }

 private:
  // A word: whether it was said, for how many it is, and how many have heard it.
  static constexpr uint64_t kSaid = 1;
  static constexpr uint64_t kOwed = 2;
  static constexpr uint64_t kHeard = uint64_t{1} << 32U;
  static constexpr uint64_t kOwedMax = kHeard / kOwed - 1;

  Word* words_;
  uint64_t capacity_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_ACCOUNT_SAYING_LEDGER_H_
