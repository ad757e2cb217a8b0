// What became of every throw, one 64-bit word each, in memory all slices share.
//
// Two parties write to a word: the slice that threw (accepted, and to whom; refused; gave up) and
// the slice that caught (delivered, and where). Each does it by one atomic OR. Where the relay said
// a sprite goes and where it came in are compared at the end, when it is known who had left: what
// waited for a desktop that left goes on to the next one, and is forwarded, not misrouted.
// Duplicates, losses and misrouting are thus exact counts however throwers and catchers are spread
// over processes, and the sum over all words is the run's account; nothing is sampled or estimated.
//
// Memory: 8 bytes a throw, touched when it is thrown (an hour at 50,000 sprites/s is 1.4 GB).
// Cost: one locked instruction for each party.
#ifndef LOADTEST_ENGINE_LEDGER_H_
#define LOADTEST_ENGINE_LEDGER_H_

#include <atomic>
#include <cstdint>

#include "departed.h"

namespace swarm {

struct Fates {
  uint64_t thrown = 0;
  uint64_t accepted = 0;
  uint64_t delivered = 0;             // at least once
  uint64_t delivered_unaccepted = 0;  // of these: the relay refused it, or never answered the throw
  uint64_t duplicated = 0;            // came more than once
  uint64_t misrouted = 0;  // to the wrong desktop, or by the wrong edge, or in the wrong name
  uint64_t forwarded = 0;  // to another desktop than the relay named, which had left
  uint64_t lost = 0;       // accepted and not delivered
};

class Ledger {
 public:
  using Word = std::atomic<uint64_t>;

  // `words`: zeroed, shared, alive as long as this.
  Ledger(Word* words, uint64_t capacity, const Departed& departed)
      : words_(words), capacity_(capacity), departed_(departed) {}

  uint64_t capacity() const { return capacity_; }

  void Throw(uint64_t number);

  struct Outcome {
    bool first = false;     // this had not been said of the throw before
    bool complete = false;  // with this it is accepted and delivered, and nobody has given it up
  };
  // The relay said 202 and to whom (kNoFingerprint: it did not say).
  Outcome Accept(uint64_t number, Fingerprint to);
  // It came in at `at`. `wrong`: something else about it is wrong.
  Outcome Deliver(uint64_t number, Fingerprint at, bool wrong);
  // The closed loop waits for it no longer. True when it is not complete.
  bool Abandon(uint64_t number);

  bool thrown(uint64_t number) const;
  bool complete(uint64_t number) const;  // accepted and delivered
  void Count(Fates* fates) const;

 private:
  bool Astray(Fingerprint to, Fingerprint at) const {
    return to != kNoFingerprint && at != kNoFingerprint && to != at;
  }

  Word* words_;
  uint64_t capacity_;
  Departed departed_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_LEDGER_H_
