// Records on their way from one I/O thread to the JavaScript thread.
//
// Threads: Publish() on the I/O thread, Receive() on the JavaScript thread; one mutex, held for a
// swap or a short copy.
// Invariant: records leave in the order in which they arrived.
// Memory: two buffers of `capacity` bytes: the I/O thread fills one, the other is published. When
// both are full, the I/O thread stops reading. Each batch starts at offset 0, so only the memory of
// the largest batch is ever touched, not the capacity.
#ifndef SERVER_NATIVE_IO_INBOX_H_
#define SERVER_NATIVE_IO_INBOX_H_

#include <atomic>
#include <cstdint>
#include <mutex>

#include "io/record.h"

namespace sprites {

class Inbox {
 public:
  explicit Inbox(uint32_t capacity);
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // The buffer that the I/O thread fills.
  RecordBuffer* filling() { return &filling_; }

  enum class Published : uint8_t {
    kFirst,   // nothing was waiting: signal the JavaScript thread
    kBehind,  // records were waiting already, and their signal is on its way
    kNoRoom,  // nothing changed: JavaScript must receive first, and then wakes this thread
  };
  // Makes the filled records visible to Receive() and empties filling(). REQUIRES: filling() is not
  // empty.
  Published Publish();

  // Appends the published records to `into`; changes nothing when it has no room for all of them.
  // kWakeThread: records arrived, and the I/O thread had stopped reading for lack of room.
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

#endif  // SERVER_NATIVE_IO_INBOX_H_
