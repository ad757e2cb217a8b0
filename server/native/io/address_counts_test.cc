// The connections that each address has open.
#include "io/address_counts.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>

#include <thread>
#include <vector>

namespace sprites {
namespace {

AddressBlock Block(const char* text) {
  sockaddr_storage address = {};
  auto& ipv4 = reinterpret_cast<sockaddr_in&>(address);
  auto& ipv6 = reinterpret_cast<sockaddr_in6&>(address);
  if (inet_pton(AF_INET, text, &ipv4.sin_addr) == 1) {
    address.ss_family = AF_INET;
  } else {
    REQUIRE(inet_pton(AF_INET6, text, &ipv6.sin6_addr) == 1);
    address.ss_family = AF_INET6;
  }
  return BlockOf(address);
}

TEST_CASE("address counts › take an IPv4 address alone, and an IPv6 /64 together") {
  REQUIRE(Block("192.0.2.1") == Block("::ffff:192.0.2.1"));
  REQUIRE(Block("192.0.2.1") != Block("192.0.2.2"));
  REQUIRE(Block("2001:db8:1:2::1") == Block("2001:db8:1:2:ffff:ffff:ffff:ffff"));
  REQUIRE(Block("2001:db8:1:2::1") != Block("2001:db8:1:3::1"));
  for (const char* each : {"0.0.0.0", "127.0.0.1", "255.255.255.255", "::1", "::", "fe80::1"}) {
    CAPTURE(each);
    REQUIRE(Block(each) != kNoBlock);
  }
  REQUIRE(Block("::1") != Block("127.0.0.1"));
  REQUIRE(BlockOf({}) == kNoBlock);
}

TEST_CASE(
    "address counts › refuse one connection above the limit, and accept it when one has closed") {
  AddressCounts counts;
  const AddressBlock one = Block("192.0.2.1");
  REQUIRE(counts.Enter(one, 2));
  REQUIRE(counts.Enter(one, 2));
  REQUIRE_FALSE(counts.Enter(one, 2));
  REQUIRE(counts.Enter(Block("192.0.2.2"), 2));
  REQUIRE(counts.size() == 2);
  counts.Leave(one);
  REQUIRE(counts.Enter(one, 2));
  counts.Leave(one);
  counts.Leave(one);
  counts.Leave(kNoBlock);
  REQUIRE(counts.size() == 1);
}

TEST_CASE("address counts › keep no address once the connections of all threads have closed") {
  AddressCounts counts;
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&counts, thread] {
      for (uint64_t round = 0; round < 2'000; ++round) {
        const AddressBlock block = 1 + (round * 7 + thread) % 5;
        if (counts.Enter(block, 3)) {
          counts.Leave(block);
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  REQUIRE(counts.size() == 0);
}

}  // namespace
}  // namespace sprites
