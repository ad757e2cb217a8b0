#include "ring/byte_ring.h"

#include <algorithm>
#include <cstring>

namespace sprites {
namespace {

// Returns whether the other end has set the flag, and resets it.
bool Reset(std::atomic<uint32_t>* flag) { return flag->load() != 0 && flag->exchange(0) != 0; }

}  // namespace

RingWriter::Written RingWriter::Write(const uint8_t* bytes, uint32_t size) {
  uint32_t done = 0;
  waits_ = false;
  while (done < size) {
    uint32_t count = std::min(Room(), size - done);
    if (count == 0) {
      // Say so first, then look again: the reader may just have made room.
      memory_.head->writer_waits.store(1);
      waits_ = true;
      count = std::min(Room(), size - done);
      if (count == 0) {
        break;
      }
      waits_ = false;
    }
    CopyIn(bytes + done, count);
    done += count;
    memory_.head->written.store(written_);
  }
  return {done, done > 0 && Reset(&memory_.head->reader_sleeps)};
}

bool RingWriter::HasRoomAgain() { return waits_ && Room() > 0; }

uint32_t RingWriter::Room() {
  const uint32_t unread = written_ - memory_.head->read.load();
  is_broken_ = is_broken_ || unread > memory_.capacity;
  return is_broken_ ? 0 : memory_.capacity - unread;
}

void RingWriter::CopyIn(const uint8_t* bytes, uint32_t size) {
  const uint32_t at = written_ & (memory_.capacity - 1);
  const uint32_t first = std::min(size, memory_.capacity - at);
  memcpy(memory_.bytes + at, bytes, first);
  memcpy(memory_.bytes, bytes + first, size - first);
  written_ += size;
}

RingReader::Received RingReader::Read(uint8_t* bytes, uint32_t size) {
  if (sleeps_) {
    sleeps_ = false;
    memory_.head->reader_sleeps.store(0, std::memory_order_relaxed);
  }
  const uint32_t count = std::min(Unread(), size);
  if (count == 0) {
    return {0, false};
  }
  const uint32_t at = read_ & (memory_.capacity - 1);
  const uint32_t first = std::min(count, memory_.capacity - at);
  memcpy(bytes, memory_.bytes + at, first);
  memcpy(bytes + first, memory_.bytes, count - first);
  read_ += count;
  memory_.head->read.store(read_);
  return {count, Reset(&memory_.head->writer_waits)};
}

bool RingReader::Sleep() {
  if (is_broken_ || Unread() > 0) {
    return false;
  }
  if (!sleeps_) {
    sleeps_ = true;
    memory_.head->reader_sleeps.store(1);
  }
  return Unread() == 0 && !is_broken_;
}

uint32_t RingReader::Unread() {
  const uint32_t unread = memory_.head->written.load() - read_;
  is_broken_ = is_broken_ || unread > memory_.capacity;
  return is_broken_ ? 0 : unread;
}

}  // namespace sprites
