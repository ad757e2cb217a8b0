// The desktops that have left or were ended by the relay: one bit for each fingerprint, in memory
// that all slices share.
//
// A sprite that waits for a desktop when it leaves goes on to the next one. It is then caught by
// another desktop than the relay named, and that is correct.
// Threads: any may set and read marks; a mark is never removed. Memory: 32 MiB of address space, of
// which only pages with a mark are used.
#ifndef LOADTEST_ENGINE_ACCOUNT_DEPARTED_H_
#define LOADTEST_ENGINE_ACCOUNT_DEPARTED_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace swarm {

// A hash of a desktop's id, 28 bits, never 0. Two desktops have the same one once in 270 million
// comparisons.
using Fingerprint = uint32_t;
constexpr Fingerprint kNoFingerprint = 0;
constexpr unsigned kFingerprintBits = 28;
inline Fingerprint FingerprintOf(std::string_view id) {
  constexpr uint64_t kMask = (uint64_t{1} << kFingerprintBits) - 1;
  uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : id) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  const auto print = static_cast<Fingerprint>((hash ^ (hash >> 32U)) & kMask);
  return print == kNoFingerprint ? 1 : print;
}

class Departed {
 public:
  using Word = std::atomic<uint64_t>;
  static constexpr size_t kWords = (size_t{1} << kFingerprintBits) / 64;

  // `words`: kWords zeroed words in shared memory that outlives this.
  explicit Departed(Word* words) : words_(words) {}

  // Call before the request to leave is sent, so that every consequence of it finds the mark.
  void Mark(Fingerprint desktop) {
    words_[desktop / 64].fetch_or(BitOf(desktop), std::memory_order_release);
  }
  bool Has(Fingerprint desktop) const {
    return (words_[desktop / 64].load(std::memory_order_acquire) & BitOf(desktop)) != 0;
  }

 private:
  static uint64_t BitOf(Fingerprint desktop) { return uint64_t{1} << (desktop % 64); }

  Word* words_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_ACCOUNT_DEPARTED_H_
