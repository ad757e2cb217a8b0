#include "desktops/shared_run.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>

#include "account/sprite_tag.h"

namespace swarm {
namespace {

constexpr size_t kPageBytes = 4096;
// A closed loop is as fast as the relay, so its throws are not known beforehand. An unused word
// costs only address space.
constexpr uint64_t kClosedLoopThrowsMax = uint64_t{1} << 28U;

// The standard deviation of random arrivals is the root of their number. More than six of them
// happens once in a billion runs.
uint64_t MostOf(double arrivals) {
  const double most = std::ceil(arrivals + 6 * std::sqrt(arrivals)) + 2;
  return static_cast<uint64_t>(std::min(most, static_cast<double>(kNumberMax)));
}

uint64_t LedgerCapacity(const Options& options) {
  if (options.mode == Mode::kSitting) {
    return 0;
  }
  if (options.mode == Mode::kClosed) {
    return kClosedLoopThrowsMax / options.processes;
  }
  return MostOf(CurveOf(options).CountAt(options.warm_up_s + options.duration_s) /
                options.processes);
}

uint64_t SayingsCapacity(const Options& options) {
  // Slices differ by at most two talkers from their mean.
  const double talkers = CountIn(options.mix, Behaviour::kTalking) / options.processes + 2;
  return MostOf(talkers * options.talk_rate * (options.warm_up_s + options.duration_s));
}

size_t RoundedUp(size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

}  // namespace

void SliceBoard::Publish(const Counters& counters) {
  const auto cells =
      std::bit_cast<std::array<uint64_t, sizeof(Counters) / sizeof(uint64_t)>>(counters);
  const uint64_t version = version_.load(std::memory_order_relaxed);
  version_.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (size_t i = 0; i < cells.size(); ++i) {
    published_[i].store(cells[i], std::memory_order_relaxed);
  }
  version_.store(version + 2, std::memory_order_release);
}

Counters SliceBoard::Read() const {
  std::array<uint64_t, sizeof(Counters) / sizeof(uint64_t)> cells{};
  for (;;) {
    const uint64_t before = version_.load(std::memory_order_acquire);
    for (size_t i = 0; i < cells.size(); ++i) {
      cells[i] = published_[i].load(std::memory_order_relaxed);
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && version_.load(std::memory_order_relaxed) == before) {
      break;
    }
  }
  return std::bit_cast<Counters>(cells);
}

SharedRun::SharedRun(const Options& options)
    : slices_(options.processes),
      ledger_capacity_(LedgerCapacity(options)),
      sayings_capacity_(SayingsCapacity(options)) {
  const size_t boards_at = RoundedUp(sizeof(RunControl));
  const size_t fingerprints_at = boards_at + RoundedUp(sizeof(SliceBoard) * slices_);
  const size_t exits_at =
      fingerprints_at + RoundedUp(sizeof(std::atomic<Fingerprint>) * options.desktops);
  const size_t departed_at = exits_at + RoundedUp(sizeof(Exits) * options.desktops);
  const size_t words_at = departed_at + RoundedUp(sizeof(Departed::Word) * Departed::kWords);
  const size_t sayings_at = words_at + RoundedUp(sizeof(Ledger::Word) * ledger_capacity_ * slices_);
  size_bytes_ = sayings_at + RoundedUp(sizeof(SayingLedger::Word) * sayings_capacity_ * slices_);
  base_ = mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base_ == MAP_FAILED) {
    throw std::bad_alloc();
  }
  auto* bytes = static_cast<char*>(base_);
  control_ = new (bytes) RunControl;
  boards_ = reinterpret_cast<SliceBoard*>(bytes + boards_at);
  for (uint32_t i = 0; i < slices_; ++i) {
    new (boards_ + i) SliceBoard;
  }
  // New pages are zero, which is the value the atomic words start with, so they need no
  // constructor.
  fingerprints_ = reinterpret_cast<std::atomic<Fingerprint>*>(bytes + fingerprints_at);
  exits_ = reinterpret_cast<Exits*>(bytes + exits_at);
  departed_ = reinterpret_cast<Departed::Word*>(bytes + departed_at);
  words_ = reinterpret_cast<Ledger::Word*>(bytes + words_at);
  sayings_ = reinterpret_cast<SayingLedger::Word*>(bytes + sayings_at);
}

SharedRun::~SharedRun() { munmap(base_, size_bytes_); }

}  // namespace swarm
