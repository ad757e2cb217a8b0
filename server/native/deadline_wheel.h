// Deadlines of one loop's connections: a wheel of 256 slots, each a list that runs through the
// connection records.
//
// Threads: all of it belongs to its loop's thread.
// Invariant: a linked record stands in the slot of its deadline or an earlier one. So a deadline
// that moves later costs one store; the record is moved when its slot comes by (the lazy timers of
// valkey and libuv's heap in one page). Cost: O(1) to arm and disarm; a pass visits at most
// kVisitsMax records and goes on in the next pass.
#ifndef SERVER_NATIVE_DEADLINE_WHEEL_H_
#define SERVER_NATIVE_DEADLINE_WHEEL_H_

#include <cstdint>

#include "connection.h"

namespace sprites {

constexpr uint32_t kNoDeadline = 0xffffffff;

class DeadlineWheel {
 public:
  static constexpr uint32_t kTickMs =
      256;  // how late a deadline may fall due; what a waking loop costs, four times a second
  static constexpr uint32_t kSlots = 256;  // 65 s ahead: more than the longest deadline
  static constexpr uint32_t kDeadlineMsMax = kTickMs * (kSlots - 2);
  static constexpr uint32_t kVisitsMax = 512;  // some 50 µs when every record is a cache miss

  DeadlineWheel(ConnectionTable* table, uint64_t now_ms);

  // Sets the deadline of `index` to `delay_ms` from now. REQUIRES: delay_ms ≤ kDeadlineMsMax.
  void Arm(Index index, uint32_t delay_ms);
  // The same for the longest delay of all, which only ever moves a deadline later: one store when
  // linked already.
  void ArmLongest(Index index, uint32_t delay_ms);
  // No deadline runs; the record stays linked until its slot comes by.
  void Disarm(Index index) { table_->At(index).deadline = kNoDeadline; }
  // Takes a record out for good. Before it is released.
  void Unlink(Index index);

  // Says what time it is (CLOCK_MONOTONIC, ms), so that Arm() counts from it.
  void SetNow(uint64_t now_ms) {
    now_tick_ = static_cast<uint32_t>((now_ms - start_ms_) / kTickMs);
  }
  // The next record whose deadline has passed, kNoIndex when there is none (or enough was done for
  // this pass). `visits` counts from 0 in each pass. The record is unlinked.
  Index NextExpired(uint32_t* visits);
  // Milliseconds until NextExpired() may have something; -1 when nothing is linked.
  int MsUntilNext(uint64_t now_ms) const;

 private:
  void Link(Index index, uint32_t tick);
  // Rounded up, and one more since the present tick has begun already: never early.
  uint32_t TickAfter(uint32_t delay_ms) const {
    return now_tick_ + (delay_ms + 2 * kTickMs - 1) / kTickMs;
  }
  bool IsSlotEmpty(uint32_t slot) const { return heads_[slot] == kNoIndex; }

  ConnectionTable* const table_;
  const uint64_t start_ms_;
  uint32_t now_tick_ = 0;
  uint32_t done_tick_ = 0;  // slots up to this one have been served
  uint32_t linked_ = 0;
  Index heads_[kSlots];
};

}  // namespace sprites

#endif  // SERVER_NATIVE_DEADLINE_WHEEL_H_
