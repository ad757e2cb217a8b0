// The connections of one I/O loop: one fixed record each, in a table that grows by blocks.
//
// Threads: all of it belongs to its loop's thread.
// Invariant: a record is in use, in the free list, or in the list of records released in this pass.
// A released record is reused in the next pass at the earliest, so an event that the kernel has
// already reported can't reach a new connection.
// Memory: 32 bytes a connection (static_assert below), and nothing else while a poll is parked.
#ifndef SERVER_NATIVE_IO_CONNECTION_H_
#define SERVER_NATIVE_IO_CONNECTION_H_

#include <cstdint>

#include "io/ticket.h"

namespace sprites {

enum class State : uint8_t {
  kFree,
  kReading,    // between requests, or in the middle of one
  kWaiting,    // a whole request has gone to JavaScript, which holds its ticket
  kWriting,    // the socket accepted only a part of an answer
  kLingering,  // answered and half closed; what the peer still sends is discarded until it closes
};

enum ConnectionFlag : uint32_t {
  kReadable = 1 << 0,      // the socket may hold bytes that no further event will report
  kPeerClosed = 1 << 1,    // the peer has closed its half
  kCloseAfter = 1 << 2,    // close after this answer
  kLinger = 1 << 3,        // … and linger, since unread bytes may follow the request
  kHttp10 = 1 << 4,        // the answer must say that the connection is kept
  kContinueSent = 1 << 5,  // 100 Continue was sent for this request
  kQueued = 1 << 6,        // in the loop's ready queue
  kLinked = 1 << 7,        // in the deadline wheel
  kRefused = 1 << 8,       // above a limit of connections: not counted, and closed after an answer
  kTimed = 1 << 9,         // the deadline of the request runs
  kOutdated = 1 << 10,     // kWaiting: more has arrived behind the parked poll, and JavaScript knows
  kFresh = kOutdated,      // kReading: nothing has been asked yet
  kRefusedAddress = 1 << 11,  // kRefused because its address has too many connections
};

struct Connection {
  int32_t descriptor;
  uint32_t generation : kGenerationBits;
  uint32_t flags : 12;
  uint32_t unread;  // handle in the RequestPool: bytes that were not handled yet; 0: none
  union {
    uint32_t slot;    // kWaiting: the slot of the request
    uint32_t unsent;  // kWriting: handle in UnsentAnswers
  };
  Index next;         // in the wheel, the free list or the released list
  Index previous;     // in the wheel
  uint32_t deadline;  // a tick of the wheel; kNoDeadline: none runs
  State state;
  uint8_t listener;

  bool Has(ConnectionFlag flag) const { return (flags & flag) != 0; }
  void Set(ConnectionFlag flag) { flags |= flag; }
  void Unset(ConnectionFlag flag) { flags &= ~static_cast<uint32_t>(flag); }
};
static_assert(sizeof(Connection) == 32, "two records a cache line; a million are 32 MB");

class ConnectionTable {
 public:
  ConnectionTable() = default;
  ~ConnectionTable();
  ConnectionTable(const ConnectionTable&) = delete;
  ConnectionTable& operator=(const ConnectionTable&) = delete;

  // Returns a record in state kReading, with everything else zero except its generation; kNoIndex
  // when all records are in use.
  Index Allocate(int descriptor);
  // Releases a record. Its generation rises, so no ticket names it any more.
  void Release(Index index);
  // Ends a pass: the released records may be reused.
  void EndPass();

  Connection& At(Index index) { return blocks_[index >> kBlockBits][index & (kBlockSize - 1)]; }
  // How many records were ever used: indexes below this are valid.
  Index size() const { return size_; }

 private:
  static constexpr uint32_t kBlockBits = 12;
  // 128 KiB a block, which the kernel maps page by page.
  static constexpr uint32_t kBlockSize = 1 << kBlockBits;
  static constexpr uint32_t kBlocksMax = 1 << (kIndexBits - kBlockBits);

  Connection* blocks_[kBlocksMax] = {};
  Index size_ = 0;
  Index free_ = kNoIndex;
  Index released_ = kNoIndex;
  Index released_last_ = kNoIndex;
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_CONNECTION_H_
