// One direction of bytes between two processes: a ring in memory that both have mapped.
//
// Threads: one thread of one process writes (RingWriter), one thread of the other reads
// (RingReader).
// Invariant: the bytes arrive in order, each once. Neither end trusts the other: its own position
// is in its own memory, and the position of the other end is checked. So a faulty peer can garble
// the bytes or break the ring, and can do nothing else to this process. Wake-ups: the reader says
// in the shared memory that it sleeps, and only then the writer has to wake it; a writer that waits
// for room does the same. All four accesses are sequentially consistent: when a reader has found
// the ring empty and sleeps, the next write sees that. Cost: one copy into the ring, one out of it,
// no system call.
#ifndef SERVER_NATIVE_RING_BYTE_RING_H_
#define SERVER_NATIVE_RING_BYTE_RING_H_

#include <atomic>
#include <cstdint>

namespace sprites {

// The part that both processes write to, with a cache line for each. Positions count all bytes
// since the start, modulo 2^32. Memory full of zeros is an empty ring.
struct RingHead {
  alignas(64) std::atomic<uint32_t> written;
  std::atomic<uint32_t> writer_waits;  // for room
  alignas(64) std::atomic<uint32_t> read;
  std::atomic<uint32_t> reader_sleeps;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(RingHead) == 128);

// Where a ring is. `capacity` is a power of two.
struct RingMemory {
  RingHead* head;
  uint8_t* bytes;
  uint32_t capacity;
};

class RingWriter {
 public:
  // `position`: how many bytes have passed, as both positions in the memory say; tests begin near
  // 2^32.
  explicit RingWriter(RingMemory memory, uint32_t position = 0)
      : memory_(memory), written_(position) {}

  struct Written {
    uint32_t bytes;
    bool wake_reader;  // the reader sleeps: wake it
  };
  // Writes as many of the bytes as there is room for. When that is not all, the reader wakes this
  // process once there is room.
  Written Write(const uint8_t* bytes, uint32_t size);
  // True when the last Write() had too little room, and there is some now.
  bool HasRoomAgain();
  // True when the reader's position was impossible. Nothing is written any more.
  bool is_broken() const { return is_broken_; }

 private:
  uint32_t Room();
  void CopyIn(const uint8_t* bytes, uint32_t size);

  const RingMemory memory_;
  uint32_t written_;
  bool waits_ = false;
  bool is_broken_ = false;
};

class RingReader {
 public:
  explicit RingReader(RingMemory memory, uint32_t position = 0)
      : memory_(memory), read_(position) {}

  struct Received {
    uint32_t bytes;
    bool wake_writer;  // the writer waits for room: wake it
  };
  // Reads up to `size` bytes.
  Received Read(uint8_t* bytes, uint32_t size);
  // Returns true when the ring is empty: the next write wakes this process. Returns false when it
  // has bytes, or is broken: do not wait then.
  bool Sleep();
  // True when the writer's position was impossible. Nothing is read any more.
  bool is_broken() const { return is_broken_; }

 private:
  uint32_t Unread();

  const RingMemory memory_;
  uint32_t read_;
  bool sleeps_ = false;
  bool is_broken_ = false;
};

}  // namespace sprites

#endif  // SERVER_NATIVE_RING_BYTE_RING_H_
