// The memory that all processes of a run share, mapped once before the slices are forked.
//
// The parent writes the phase and reads everything. A slice writes its own board, the fingerprints
// of its own desktops, marks in Departed, and words in any ledger. It holds no pointers and no
// locks.
#ifndef LOADTEST_ENGINE_DESKTOPS_SHARED_RUN_H_
#define LOADTEST_ENGINE_DESKTOPS_SHARED_RUN_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "account/bloom_table.h"
#include "account/counters.h"
#include "account/histogram.h"
#include "account/ledger.h"
#include "account/saying_ledger.h"
#include "plan/options.h"

namespace swarm {

enum class Phase : uint32_t { kConnect, kSettle, kThrow, kDrain, kLeave, kEnd };

// What the parent tells all slices. It sets the times before the phase that needs them.
struct RunControl {
  std::atomic<Phase> phase{Phase::kConnect};
  std::atomic<int64_t> throw_from_ns{0};
  std::atomic<int64_t> measure_from_ns{0};
  std::atomic<int64_t> measure_until_ns{0};
  // The parent counts this up to ask: has everything been read that had arrived by now?
  std::atomic<uint64_t> probe{0};
};

// What one slice publishes. Counters are published as a whole, under a sequence lock whose version
// is odd during a write, so a reader never sees half of a change. Histograms change bucket by
// bucket.
class SliceBoard : public Latencies {
 public:
  void Publish(const Counters& counters);
  Counters Read() const;

  Histogram latency_unmeasured;  // as `latency`, of throws due outside the window
  // Without the sprites of other machines that this slice has caught; the parent reads it when the
  // slice has ended.
  BloomTable visitors;
  std::atomic<uint64_t> completed{0};  // throws of this slice that other slices saw complete
  // What the slice acknowledges, each after the counters that belong to it have been published: the
  // phase that it has entered, kDrain only when it will throw nothing more on schedule; and the
  // last probe after which it has handled everything that had arrived before.
  std::atomic<Phase> entered{Phase::kConnect};
  std::atomic<uint64_t> probed{0};

 private:
  std::atomic<uint64_t> version_{0};
  std::array<std::atomic<uint64_t>, sizeof(Counters) / sizeof(uint64_t)> published_{};
};

// The relay of a desktop, and where its edges lead, as far as its sprites have shown. Its slice
// writes the relay before any sprite is thrown; those that catch its sprites write the edges.
struct Exits {
  std::atomic<uint8_t> relay{0};
  std::atomic<uint8_t> known{0};   // a bit for each edge over which a sprite has arrived
  std::atomic<uint8_t> across{0};  // of these: some sprite arrived at another relay
};

class SharedRun {
 public:
  // Throws std::bad_alloc when the memory cannot be mapped.
  explicit SharedRun(const Options& options);
  ~SharedRun();
  SharedRun(const SharedRun&) = delete;
  SharedRun& operator=(const SharedRun&) = delete;

  uint32_t slices() const { return slices_; }
  RunControl& control() { return *control_; }
  const RunControl& control() const { return *control_; }
  SliceBoard& board(uint32_t slice) { return boards_[slice]; }
  Ledger ledger(uint32_t slice) {
    return {words_ + uint64_t{slice} * ledger_capacity_, ledger_capacity_, departed()};
  }
  SayingLedger sayings(uint32_t slice) {
    return {sayings_ + uint64_t{slice} * sayings_capacity_, sayings_capacity_};
  }
  Departed departed() { return Departed(departed_); }
  std::atomic<Fingerprint>& fingerprint(uint32_t desktop) { return fingerprints_[desktop]; }
  Exits& exits(uint32_t desktop) { return exits_[desktop]; }

 private:
  uint32_t slices_;
  uint64_t ledger_capacity_;
  uint64_t sayings_capacity_;
  size_t size_bytes_ = 0;
  void* base_ = nullptr;
  RunControl* control_ = nullptr;
  SliceBoard* boards_ = nullptr;
  std::atomic<Fingerprint>* fingerprints_ = nullptr;
  Exits* exits_ = nullptr;
  Departed::Word* departed_ = nullptr;
  Ledger::Word* words_ = nullptr;
  SayingLedger::Word* sayings_ = nullptr;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DESKTOPS_SHARED_RUN_H_
