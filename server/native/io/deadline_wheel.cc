#include "io/deadline_wheel.h"

#include <algorithm>

namespace sprites {

DeadlineWheel::DeadlineWheel(ConnectionTable* table, uint64_t now_ms)
    : table_(table), start_ms_(now_ms) {
  std::fill_n(heads_, kSlots, kNoIndex);
}

void DeadlineWheel::Arm(Index index, uint32_t delay_ms) {
  Unlink(index);
  const uint32_t tick = TickAfter(delay_ms);
  table_->At(index).deadline = tick;
  Link(index, tick);
}

void DeadlineWheel::ArmLongest(Index index, uint32_t delay_ms) {
  Connection& connection = table_->At(index);
  if (!connection.Has(kLinked)) {
    Arm(index, delay_ms);
  } else {
    connection.deadline = TickAfter(delay_ms);
  }
}

void DeadlineWheel::Link(Index index, uint32_t tick) {
  Connection& connection = table_->At(index);
  // The slot of a past tick would be served a whole round later, and so would one that is more than
  // a round ahead, which happens after the loop was blocked for long.
  Index& head = heads_[std::clamp(tick, done_tick_ + 1, done_tick_ + kSlots) % kSlots];
  connection.previous = kNoIndex;
  connection.next = head;
  if (head != kNoIndex) {
    table_->At(head).previous = index;
  }
  head = index;
  connection.Set(kLinked);
  ++linked_;
}

void DeadlineWheel::Unlink(Index index) {
  Connection& connection = table_->At(index);
  if (!connection.Has(kLinked)) {
    return;
  }
  connection.Unset(kLinked);
  --linked_;
  if (connection.next != kNoIndex) {
    table_->At(connection.next).previous = connection.previous;
  }
  if (connection.previous != kNoIndex) {
    table_->At(connection.previous).next = connection.next;
    return;
  }
  // It is the first of its list: find the head that names it.
  const uint32_t likely = connection.deadline % kSlots;
  if (connection.deadline != kNoDeadline && heads_[likely] == index) {
    heads_[likely] = connection.next;
    return;
  }
  *std::find(heads_, heads_ + kSlots, index) = connection.next;
}

Index DeadlineWheel::NextExpired(uint32_t* visits) {
  while (done_tick_ < now_tick_) {
    const uint32_t tick = done_tick_ + 1;
    for (Index& head = heads_[tick % kSlots]; head != kNoIndex;) {
      if (++*visits > kVisitsMax) {
        return kNoIndex;
      }
      const Index index = head;
      Connection& connection = table_->At(index);
      head = connection.next;
      if (head != kNoIndex) {
        table_->At(head).previous = kNoIndex;
      }
      connection.Unset(kLinked);
      --linked_;
      if (connection.deadline == kNoDeadline) {
        continue;
      }
      if (connection.deadline <= tick) {
        return index;
      }
      Link(index, connection.deadline);
    }
    done_tick_ = tick;
  }
  return kNoIndex;
}

int DeadlineWheel::MsUntilNext(uint64_t now_ms) const {
  if (linked_ == 0) {
    return -1;
  }
  if (done_tick_ < now_tick_) {
    return 0;
  }
  uint32_t tick = done_tick_ + 1;
  while (IsSlotEmpty(tick % kSlots)) {
    ++tick;
  }
  const uint64_t due_ms = start_ms_ + static_cast<uint64_t>(tick) * kTickMs;
  return due_ms <= now_ms ? 0 : static_cast<int>(due_ms - now_ms);
}

}  // namespace sprites
