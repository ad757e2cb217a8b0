// What crosses the border to JavaScript: packed records, many in one buffer, in host byte order.
//
// native.ts reads and writes the same layout by word numbers; the addon exports the sizes below and
// native.ts checks them when it loads. Every record is a whole number of 8-byte units long, so that
// the words of the next one are aligned.
#ifndef SERVER_NATIVE_RECORD_H_
#define SERVER_NATIVE_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sprites {

enum class RecordKind : uint32_t {
  kPoll = 1,
  kCrossing = 2,
  kClosed = 3,
  kHandover = 4,
  kOutdated = 5,
};

// A request, a closed connection or an outdated poll (the first six words), or a connection handed
// over to Node with the bytes read.
struct InboundRecord {
  RecordKind kind;
  uint32_t bytes;  // the whole record, its body included
  uint32_t ticket_low;
  uint32_t ticket_high;
  uint32_t slot;
  uint32_t generation;
  uint32_t token[4];
  union {
    uint32_t epoch;         // poll
    uint32_t crossing_low;  // crossing that was scanned: its number
  };
  union {
    uint32_t seq;
    uint32_t crossing_high;
  };
  uint32_t
      length;  // crossing, handover: bytes of the body that follows; poll: 1 when a cursor came
  uint32_t descriptor;    // handover: the file descriptor, which is JavaScript's from now on
  uint32_t listener;      // handover: the number of the listener it came by
  uint32_t edge_and_one;  // crossing: 0: its body follows as it came; else it was scanned, and its
                          // passage follows
};
constexpr uint32_t kInboundHeadBytes = sizeof(InboundRecord);
constexpr uint32_t kNoticeBytes = 24;
static_assert(kInboundHeadBytes == 64);

// An answer. Its HTTP head is written right before the body, into the gap between this and that, so
// that both leave in one send.
struct OutboundRecord {
  uint32_t bytes;  // the whole record, gap and body included
  uint32_t ticket_low;
  uint32_t ticket_high;
  uint32_t status;
  uint32_t length;  // bytes of the body
  uint32_t retry_after_seconds;
  uint32_t start;  // of the body, from the beginning of the record; at least kOutboundHeadBytes
  uint32_t reserved;
};
constexpr uint32_t kAnswerHeadBytesMax = 264;
constexpr uint32_t kOutboundHeadBytes = sizeof(OutboundRecord) + kAnswerHeadBytesMax;
static_assert(kOutboundHeadBytes == 296);

constexpr uint32_t AlignedToEight(uint32_t bytes) { return (bytes + 7) & ~7u; }

// Where records are appended: memory of a fixed size that somebody else owns.
class RecordBuffer {
 public:
  RecordBuffer() = default;
  RecordBuffer(uint8_t* memory, uint32_t capacity) : memory_(memory), capacity_(capacity) {}

  bool HasRoom(uint32_t bytes) const { return capacity_ - size_ >= bytes; }
  bool empty() const { return size_ == 0; }
  uint32_t size() const { return size_; }
  uint32_t capacity() const { return capacity_; }
  uint8_t* memory() const { return memory_; }
  void Clear() { size_ = 0; }

  // REQUIRES: HasRoom(bytes), bytes is a multiple of 8.
  uint8_t* Extend(uint32_t bytes) {
    uint8_t* at = memory_ + size_;
    size_ += bytes;
    return at;
  }
  // REQUIRES: HasRoom(other.size()).
  void Append(const RecordBuffer& other) {
    memcpy(Extend(other.size()), other.memory(), other.size());
  }

 private:
  uint8_t* memory_ = nullptr;
  uint32_t capacity_ = 0;
  uint32_t size_ = 0;
};

}  // namespace sprites

#endif  // SERVER_NATIVE_RECORD_H_
