// The layout of what is exchanged with JavaScript: packed records, many in one buffer, in host byte
// order.
//
// native.ts reads and writes the same layout by word numbers. The addon exports the sizes below,
// and native.ts checks them when it loads. The size of a record is a multiple of 8 bytes, so that
// the next record is aligned.
#ifndef SERVER_NATIVE_IO_RECORD_H_
#define SERVER_NATIVE_IO_RECORD_H_

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
  kSaying = 6,
  kStage = 7,
};

// A request; a notice that a connection closed or a poll is outdated (the first six words only); or
// a connection that is handed over to Node, with the bytes that were read.
struct InboundRecord {
  RecordKind kind;
  uint32_t bytes;  // of the whole record with its body
  uint32_t ticket_low;
  uint32_t ticket_high;
  uint32_t slot;
  uint32_t generation;
  uint32_t token[4];
  union {
    uint32_t epoch;         // poll
    uint32_t crossing_low;  // a scanned crossing: its number
    uint32_t block_low;     // handover: to give back when the connection closes; 0: none
  };
  union {
    uint32_t seq;
    uint32_t crossing_high;
    uint32_t block_high;
  };
  uint32_t length;        // a post, handover: bytes of the body; poll: 1 when it has a cursor
  uint32_t descriptor;    // handover: the file descriptor, which JavaScript owns from now on
  uint32_t listener;      // handover: the number of its listener
  uint32_t edge_and_one;  // crossing: 0: its body follows unchanged; otherwise its edge + 1, and
                          // its passage follows
};
constexpr uint32_t kInboundHeadBytes = sizeof(InboundRecord);
constexpr uint32_t kNoticeBytes = 24;
static_assert(kInboundHeadBytes == 64);

// An answer. The loop writes its HTTP head into the gap before the body, so that both leave in one
// send. A record with status 0 is no answer but a shared body, without a gap: it follows the body
// of each answer behind it that shares, up to the next shared body.
struct OutboundRecord {
  uint32_t bytes;  // of the whole record with gap and body
  uint32_t ticket_low;
  uint32_t ticket_high;
  uint32_t status;
  uint32_t length;  // of the body, in bytes
  uint32_t retry_after_seconds;
  uint32_t start;   // of the body in the record; of an answer: ≥ kOutboundHeadBytes
  uint32_t shares;  // 1: the newest shared body follows the body
};
// The bytes of a shared body. They belong to the buffer with its record.
struct SharedBody {
  const uint8_t* bytes = nullptr;
  uint32_t size = 0;
};
constexpr uint32_t kAnswerHeadBytesMax = 312;
constexpr uint32_t kOutboundHeadBytes = sizeof(OutboundRecord) + kAnswerHeadBytesMax;
static_assert(kOutboundHeadBytes == 344);

// Makes the body of `record` the shared one and returns true, if it is a shared body.
inline bool ReadSharedBody(const uint8_t* record, SharedBody* shared) {
  OutboundRecord head;
  memcpy(&head, record, sizeof head);
  if (head.status != 0) {
    return false;
  }
  *shared = {record + head.start, head.length};
  return true;
}

constexpr uint32_t AlignedToEight(uint32_t bytes) { return (bytes + 7) & ~7u; }

// A buffer to which records are appended: memory of a fixed size that the caller owns.
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

#endif  // SERVER_NATIVE_IO_RECORD_H_
