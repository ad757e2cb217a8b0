#include "io/inbox.h"

#include <sys/mman.h>

#include <cstdlib>
#include <utility>

namespace sprites {
namespace {

RecordBuffer MapBuffer(uint32_t capacity) {
  void* memory =
      mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    abort();  // at start, for some hundred KiB: no front could run
  }
  return {static_cast<uint8_t*>(memory), capacity};
}

}  // namespace

Inbox::Inbox(uint32_t capacity)
    : capacity_(capacity), filling_(MapBuffer(capacity)), published_(MapBuffer(capacity)) {}

Inbox::~Inbox() {
  munmap(filling_.memory(), capacity_);
  munmap(published_.memory(), capacity_);
}

Inbox::Published Inbox::Publish() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (published_.empty()) {
    std::swap(published_, filling_);
    stalled_.store(false, std::memory_order_relaxed);
    return Published::kFirst;
  }
  if (!published_.HasRoom(filling_.size())) {
    stalled_.store(true, std::memory_order_relaxed);
    return Published::kNoRoom;
  }
  published_.Append(filling_);
  filling_.Clear();
  stalled_.store(false, std::memory_order_relaxed);
  return Published::kBehind;
}

Inbox::Received Inbox::Receive(RecordBuffer* into) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (published_.empty()) {
    return Received::kNothing;
  }
  if (!into->HasRoom(published_.size())) {
    return Received::kNoRoom;
  }
  into->Append(published_);
  published_.Clear();
  return stalled_.load(std::memory_order_relaxed) ? Received::kWakeThread : Received::kRecords;
}

}  // namespace sprites
