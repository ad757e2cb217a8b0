// Records on their way from one I/O thread to the JavaScript thread.
//
// Threads: Publish() on the I/O thread, Take() on the JavaScript thread; one mutex, held for a swap
// or a short copy. Invariant: records leave in the order they came. Two buffers of `capacity`
// bytes: one being filled by the I/O thread, one published; when both are full the thread has to
// stop reading. Each begins anew at offset 0, so the memory touched is that of the largest batch,
// not of the capacity.
#ifndef SERVER_NATIVE_INBOX_H_
#define SERVER_NATIVE_INBOX_H_

#include <atomic>
#include <cstdint>
#include <mutex>

#include "record.h"

namespace sprites {

class Inbox {
 public:
  explicit Inbox(uint32_t capacity);
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // The I/O thread's buffer to fill.
  RecordBuffer* filling() { return &filling_; }

  enum class Published : uint8_t {
    kFirst,   // nothing was waiting: the JavaScript thread has to be signalled
    kBehind,  // something was waiting already, and its signal is under way
    kNoRoom,  // nothing changed: JavaScript has to take first, and wakes this thread then
  };
  // Makes what was filled visible to Take(); filling() is empty after it. REQUIRES: filling() is
  // not empty.
  Published Publish();

  // Moves what is published behind what is in `into`; nothing when it has not enough room for all
  // of it. kWakeThread: the thread had stopped reading for want of room.
  enum class Received : uint8_t { kNothing, kRecords, kNoRoom, kWakeThread };
  Received Receive(RecordBuffer* into);

  bool stalled() const { return stalled_.load(std::memory_order_relaxed); }

 private:
  const uint32_t capacity_;
  RecordBuffer filling_;
  std::mutex mutex_;
  RecordBuffer published_;            // under mutex_
  std::atomic<bool> stalled_{false};  // written under mutex_
};

}  // namespace sprites

#endif  // SERVER_NATIVE_INBOX_H_
