// The connections of one I/O loop: one fixed record each, in a table that grows by blocks.
//
// Threads: all of it belongs to its loop's thread.
// Invariant: a record is in exactly one of: use, the free list, limbo. Limbo holds records closed
// during this pass; they are reused only in the next one, so that an event the kernel has reported
// already can't reach a newcomer. Memory: 32 bytes a connection (static_assert below), and nothing
// else while a poll is parked.
#ifndef SERVER_NATIVE_CONNECTION_H_
#define SERVER_NATIVE_CONNECTION_H_

#include <cstdint>

#include "ticket.h"

namespace sprites {

enum class State : uint8_t {
  kFree,
  kReading,    // between requests, or a part of one has come
  kWaiting,    // a whole request has gone to JavaScript; its ticket is out
  kWriting,    // the socket took only a part of an answer
  kLingering,  // answered and half closed; what the peer still sends is thrown away until it has
               // read the answer
};

enum ConnectionFlag : uint32_t {
  kReadable = 1 << 0,      // the socket may hold bytes that no further event will tell of
  kPeerClosed = 1 << 1,    // the peer has sent its last byte
  kCloseAfter = 1 << 2,    // the answer under way is the last
  kLinger = 1 << 3,        // … and unread bytes may stand behind it
  kHttp10 = 1 << 4,        // the answer has to say that the connection stays
  kContinueSent = 1 << 5,  // 100 Continue has been said for this request
  kQueued = 1 << 6,        // in the loop's queue of connections that can go on without an event
  kLinked = 1 << 7,        // in the deadline wheel
  kRefused = 1 << 8,       // over connectionsMax; not counted
  kTimed = 1 << 9,         // the request deadline runs already
  kOutdated = 1 << 10,     // more has come behind the held poll, and JavaScript was told
};

struct Connection {
  int32_t descriptor;
  uint32_t generation : kGenerationBits;
  uint32_t flags : 12;
  uint32_t unread;  // handle in the RequestPool: bytes of a request that is not whole, or of the
                    // next one; 0: none
  union {
    uint32_t slot;    // kWaiting: the slot of the request
    uint32_t unsent;  // kWriting: handle in UnsentAnswers of what the socket would not take
  };
  Index next;         // in the wheel, the free list or limbo
  Index previous;     // in the wheel
  uint32_t deadline;  // wheel tick; kNoDeadline: none runs
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

  // A record in state kReading, everything else zero but its generation; kNoIndex when all are in
  // use.
  Index Allocate(int descriptor);
  // Puts a record in limbo. Its generation rises, so no ticket names it any more.
  void Release(Index index);
  // The end of a pass: what is in limbo may be used again.
  void EndPass();

  Connection& At(Index index) { return blocks_[index >> kBlockBits][index & (kBlockSize - 1)]; }
  // Records that were ever used: indexes below this are valid.
  Index size() const { return size_; }

 private:
  static constexpr uint32_t kBlockBits = 12;
  static constexpr uint32_t kBlockSize =
      1 << kBlockBits;  // 128 KiB, which the kernel maps page by page
  static constexpr uint32_t kBlocks = 1 << (kIndexBits - kBlockBits);

  Connection* blocks_[kBlocks] = {};
  Index size_ = 0;
  Index free_ = kNoIndex;
  Index limbo_ = kNoIndex;
  Index limbo_last_ = kNoIndex;
};

}  // namespace sprites

#endif  // SERVER_NATIVE_CONNECTION_H_
