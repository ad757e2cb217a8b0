#include "io/address_counts.h"

#include <netinet/in.h>

#include <cstring>

namespace sprites {
namespace {

// IPv4 addresses use the prefix 0:1::/32, which is in ::/8 and so not the address of any machine.
AddressBlock BlockOfIpv4(const uint8_t* bytes) {
  uint32_t address;
  memcpy(&address, bytes, sizeof address);
  return 1ull << 32 | ntohl(address);
}

}  // namespace

AddressBlock BlockOf(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(address);
    return BlockOfIpv4(reinterpret_cast<const uint8_t*>(&ipv4.sin_addr));
  }
  if (address.ss_family != AF_INET6) {
    return kNoBlock;
  }
  const in6_addr& ipv6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&ipv6)) {
    return BlockOfIpv4(ipv6.s6_addr + 12);
  }
  AddressBlock block = 0;
  for (int i = 0; i < 8; ++i) {
    block = block << 8 | ipv6.s6_addr[i];
  }
  // ::1 is in the block 0, which means none.
  return block == kNoBlock ? 1 : block;
}

bool AddressCounts::Enter(AddressBlock block, uint32_t max) {
  const std::lock_guard<std::mutex> lock(mutex_);
  uint32_t& count = counts_[block];
  if (count >= max) {
    return false;
  }
  ++count;
  return true;
}

void AddressCounts::Leave(AddressBlock block) {
  if (block == kNoBlock) {
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = counts_.find(block);
  if (found != counts_.end() && --found->second == 0) {
    counts_.erase(found);
  }
}

size_t AddressCounts::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_.size();
}

}  // namespace sprites
