// Which desktops have left, or were ended by the relay: one bit for each fingerprint, in memory all
// slices share.
//
// A sprite that waits for a desktop when it leaves goes on to the next one; whoever catches it is
// not whom the relay named, and that is right. Threads: any may mark and ask; a mark is never taken
// back. Memory: 32 MiB of address space, a page for each stretch of it that is marked.
#ifndef LOADTEST_ENGINE_DEPARTED_H_
#define LOADTEST_ENGINE_DEPARTED_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace swarm {

// 28 bits of a desktop's id, never 0: two desktops look alike once in 270 million comparisons.
using Fingerprint = uint32_t;
constexpr Fingerprint kNoFingerprint = 0;
constexpr unsigned kFingerprintBits = 28;
Fingerprint FingerprintOf(std::string_view id);

class Departed {
 public:
  using Word = std::atomic<uint64_t>;
  static constexpr size_t kWords = (size_t{1} << kFingerprintBits) / 64;

  // `words`: kWords, zeroed, shared, alive as long as this.
  explicit Departed(Word* words) : words_(words) {}

  // Before the relay is told, so that whatever comes of it finds the mark.
  void Mark(Fingerprint who) { words_[who / 64].fetch_or(BitOf(who), std::memory_order_release); }
  bool Has(Fingerprint who) const {
    return (words_[who / 64].load(std::memory_order_acquire) & BitOf(who)) != 0;
  }

 private:
  static uint64_t BitOf(Fingerprint who) { return uint64_t{1} << (who % 64); }

  Word* words_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DEPARTED_H_
