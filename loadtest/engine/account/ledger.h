// What became of every throw: one 64-bit word for each, in memory that all slices share.
//
// Two slices write to a word, each by one atomic operation: the one that threw (accepted, and for
// which desktop; abandoned) and the one that caught (delivered, and where). The desktop that the
// relay named and the one that caught are compared at the end, when it is known which desktops had
// left: a sprite that waited for a desktop that left goes on to the next one, so it is forwarded
// and not misrouted. Thus duplicates, losses and misroutings are exact counts, in whichever
// processes throwers and catchers run. The sum over all words is the run's account; nothing is
// sampled.
//
// Memory: 8 bytes a throw, used when it is thrown (an hour at 50,000 sprites/s is 1.4 GB).
// Cost: one locked instruction for each of the two slices.
#ifndef LOADTEST_ENGINE_ACCOUNT_LEDGER_H_
#define LOADTEST_ENGINE_ACCOUNT_LEDGER_H_

#include <atomic>
#include <cstdint>

#include "account/bloom_table.h"
#include "account/departed.h"

namespace swarm {

struct Fates {
  uint64_t thrown = 0;
  uint64_t accepted = 0;
  uint64_t delivered = 0;             // at least once
  uint64_t delivered_unaccepted = 0;  // of these: the relay refused it or never answered
  uint64_t duplicated = 0;            // arrived more often than it was given back, by two or more
  uint64_t misrouted = 0;   // to the wrong desktop, by the wrong edge, or with a wrong sender
  uint64_t corrupted = 0;   // with another position, speed or picture than it was thrown with
  uint64_t forwarded = 0;   // to another desktop than the relay named, because that one had left
  uint64_t missing = 0;     // accepted but not delivered
  uint64_t given_back = 0;  // and not delivered again: not delivered, and missing if accepted
};

class Ledger {
 public:
  using Word = std::atomic<uint64_t>;

  // `words`: zeroed words in shared memory that outlives this.
  Ledger(Word* words, uint64_t capacity, const Departed& departed)
      : words_(words), capacity_(capacity), departed_(departed) {}

  uint64_t capacity() const { return capacity_; }

  void Throw(uint64_t number);

  struct Outcome {
    bool first = false;     // this is the first such report for the throw
    bool arrived = false;   // now it is accepted and delivered, and was not before
    bool complete = false;  // the same, and it was not abandoned
  };
  // The relay answered 202 and named the desktop `to` (kNoFingerprint: it named none).
  Outcome Accept(uint64_t number, Fingerprint to);
  // The sprite arrived at desktop `at`. `is_astray`: it came by the wrong edge or names the wrong
  // sender. `is_corrupted`: it is not what was thrown.
  Outcome Deliver(uint64_t number, Fingerprint at, bool is_astray, bool is_corrupted);
  // The desktop that it arrived at has ended without having acknowledged it. The sprite goes on, so
  // it arrives once more, before or after this call. Returns true when it had arrived, and now has
  // not.
  bool GiveBack(uint64_t number);
  // The closed loop no longer waits for it. Returns true when it is not complete.
  bool Abandon(uint64_t number);

  bool thrown(uint64_t number) const;
  bool complete(uint64_t number) const;  // accepted and delivered
  void Count(Fates* fates) const;
  // Adds the number of each accepted throw that was not delivered, with `bits` before it.
  void AddMissing(uint64_t bits, BloomTable* table) const;

 private:
  bool IsAstray(Fingerprint to, Fingerprint at) const {
    return to != kNoFingerprint && at != kNoFingerprint && to != at;
  }

  // Calls see(number, word) for each throw.
  template <typename See>
  void ForEach(See see) const;

  // Replaces a word by changed(word), which may be called several times. Returns what it was.
  template <typename Changed>
  uint64_t Change(uint64_t number, Changed changed);

  Word* words_;
  uint64_t capacity_;
  Departed departed_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_ACCOUNT_LEDGER_H_
