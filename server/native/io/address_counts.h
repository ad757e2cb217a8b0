// How many connections each address has open, over all loops of one front.
//
// Addresses are counted by block: an IPv4 address, or an IPv6 /64, which is what one household or
// one machine gets, and from which it may choose any address.
// Threads: any. A mutex guards the table; it is used once when a connection is accepted and once
// when it closes, never for a request.
// Invariant: a block is in the table iff it has a connection open. So the table is bounded by
// connections_max: some 60 bytes an address.
#ifndef SERVER_NATIVE_IO_ADDRESS_COUNTS_H_
#define SERVER_NATIVE_IO_ADDRESS_COUNTS_H_

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace sprites {

using AddressBlock = uint64_t;
constexpr AddressBlock kNoBlock = 0;

// Returns the block of a peer's address; kNoBlock when its family is neither IPv4 nor IPv6.
AddressBlock BlockOf(const sockaddr_storage& address);

class AddressCounts {
 public:
  // Counts one more connection of `block`. Returns false when it has `max` already.
  bool Enter(AddressBlock block, uint32_t max);
  // A connection that Enter() counted has closed. Does nothing for kNoBlock.
  void Leave(AddressBlock block);
  // How many blocks have a connection open.
  size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<AddressBlock, uint32_t> counts_;
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_ADDRESS_COUNTS_H_
