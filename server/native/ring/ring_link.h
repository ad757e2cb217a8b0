// The link between two processes: shared memory with a ring each way, and the doorbell of the peer.
//
// Threads: all of it belongs to one thread of its process.
// One process makes the memory (Make) and passes its descriptor on; the other opens it (Open). The
// memory is sealed, so the peer cannot shrink it under this process, which would be a SIGBUS.
// A doorbell is an eventfd. Each process has one for all of its links, and its peers write to it.
// Memory: kRingBytes each way, resident once the ring has been written round.
#ifndef SERVER_NATIVE_RING_RING_LINK_H_
#define SERVER_NATIVE_RING_RING_LINK_H_

#include <cstdint>
#include <memory>

#include "ring/byte_ring.h"

namespace sprites {

class RingLink {
 public:
  // Some 700 frames with one crossing: more than a master that is blocked for 10 ms gets at 50,000
  // crossings a second. A longer frame passes in pieces.
  static constexpr uint32_t kRingBytes = 256 << 10;

  // Makes the memory. `memory` is its descriptor, which the caller owns, for the peer. Returns
  // nullptr on failure, with errno.
  static std::unique_ptr<RingLink> Make(int peer_doorbell, int* memory);
  // Opens the memory that the peer has made. Returns nullptr on failure, with errno: EINVAL when it
  // is not such memory, or that of another version.
  static std::unique_ptr<RingLink> Open(int peer_doorbell, int memory);
  ~RingLink();
  RingLink(const RingLink&) = delete;
  RingLink& operator=(const RingLink&) = delete;

  // As RingWriter::Write() and RingReader::Read(). They wake the peer when that is necessary.
  uint32_t Write(const uint8_t* bytes, uint32_t size);
  uint32_t Read(uint8_t* bytes, uint32_t size);
  bool HasRoomAgain() { return writer_.HasRoomAgain(); }
  bool Sleep() { return reader_.Sleep(); }
  bool is_broken() const { return writer_.is_broken() || reader_.is_broken(); }

 private:
  struct Shared;
  RingLink(Shared* shared, int peer_doorbell, bool is_maker);
  void WakePeer() const;

  Shared* const shared_;
  const int peer_doorbell_;
  RingWriter writer_;
  RingReader reader_;
};

}  // namespace sprites

#endif  // SERVER_NATIVE_RING_RING_LINK_H_
