// The deadlines of one loop's connections: a wheel of 256 slots, each a list that runs through the
// connection records.
//
// Threads: all of it belongs to its loop's thread.
// Invariant: a linked record is in the slot of its deadline or in an earlier one. So moving a
// deadline later costs one store; the record itself moves when its slot is due (like the lazy
// timers of valkey).
// Cost: O(1) to arm and disarm; a pass visits at most kVisitsMax records, and the next pass
// continues.
#ifndef SERVER_NATIVE_IO_DEADLINE_WHEEL_H_
#define SERVER_NATIVE_IO_DEADLINE_WHEEL_H_

#include <cstdint>

#include "io/connection.h"

namespace sprites {

constexpr uint32_t kNoDeadline = 0xffffffff;

class DeadlineWheel {
 public:
  // A deadline expires at most two ticks late. A loop with deadlines wakes up four times a second.
  static constexpr uint32_t kTickMs = 256;
  static constexpr uint32_t kSlots = 256;  // 65 s, more than the longest deadline
  static constexpr uint32_t kDeadlineMsMax = kTickMs * (kSlots - 2);
  static constexpr uint32_t kVisitsMax = 512;  // some 50 µs when every record is a cache miss

  DeadlineWheel(ConnectionTable* table, uint64_t now_ms);

  // Sets the deadline of `index` to `delay_ms` from now. REQUIRES: delay_ms ≤ kDeadlineMsMax.
  void Arm(Index index, uint32_t delay_ms);
  // The same for the longest of all delays, which can only move a deadline later: one store if the
  // record is linked already.
  void ArmLongest(Index index, uint32_t delay_ms);
  // Stops the deadline; the record stays linked until its slot is due.
  void Disarm(Index index) { table_->At(index).deadline = kNoDeadline; }
  // Removes a record from the wheel. Call it before releasing the record.
  void Unlink(Index index);

  // Sets the time (CLOCK_MONOTONIC, ms) from which Arm() counts.
  void SetNow(uint64_t now_ms) {
    now_tick_ = static_cast<uint32_t>((now_ms - start_ms_) / kTickMs);
  }
  // Unlinks and returns the next record whose deadline has passed; kNoIndex when there is none, or
  // after kVisitsMax visits. `visits` counts from 0 in each pass.
  Index NextExpired(uint32_t* visits);
  // Milliseconds until NextExpired() may return a record; -1 when nothing is linked.
  int MsUntilNext(uint64_t now_ms) const;

 private:
  void Link(Index index, uint32_t tick);
  // Rounds up, and adds one because the current tick has begun: a deadline never expires early.
  uint32_t TickAfter(uint32_t delay_ms) const {
    return now_tick_ + (delay_ms + 2 * kTickMs - 1) / kTickMs;
  }
  bool IsSlotEmpty(uint32_t slot) const { return heads_[slot] == kNoIndex; }

  ConnectionTable* const table_;
  const uint64_t start_ms_;
  uint32_t now_tick_ = 0;
  uint32_t done_tick_ = 0;  // slots up to this tick are done
  uint32_t linked_ = 0;
  Index heads_[kSlots];
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_DEADLINE_WHEEL_H_
