// What holds memory: the connection table, the pool of partial requests, the unsent answers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "http/request_pool.h"
#include "io/connection.h"
#include "io/ticket.h"
#include "io/unsent_answers.h"

namespace sprites {
namespace {

TEST_CASE("connections › do not reuse a record that was closed in the same pass") {
  ConnectionTable table;
  const Index first = table.Allocate(7);
  const uint32_t generation = table.At(first).generation;
  table.Release(first);
  REQUIRE(table.Allocate(8) != first);
  table.EndPass();
  REQUIRE(table.Allocate(9) == first);
  REQUIRE(uint32_t{table.At(first).generation} != generation);
  REQUIRE(table.At(first).descriptor == 9);
}

TEST_CASE("connections › are as many as a ticket can name, and not more") {
  ConnectionTable table;
  for (Index i = 0; i < 1u << kIndexBits; ++i) {
    REQUIRE(table.Allocate(1) == i);
  }
  REQUIRE(table.Allocate(1) == kNoIndex);
  table.Release(12345);
  table.EndPass();
  REQUIRE(table.Allocate(1) == 12345);
}

TEST_CASE("tickets › survive packing into 48 bits, up to the largest") {
  for (const Ticket ticket :
       {Ticket{0, 0, 0}, Ticket{255, (1u << 20) - 1, (1u << 20) - 1}, Ticket{1, 2, 3}}) {
    const uint64_t packed = ticket.Pack();
    REQUIRE(packed < 1ull << 48);
    const Ticket unpacked = Ticket::Unpack(packed);
    REQUIRE(unpacked.thread == ticket.thread);
    REQUIRE(unpacked.index == ticket.index);
    REQUIRE(unpacked.generation == ticket.generation);
  }
}

TEST_CASE("request pool › keeps its bound during a storm, and returns memory after it") {
  RequestPool pool(8 << 20);
  std::vector<BufferHandle> held;
  for (;;) {
    const BufferHandle handle = pool.Allocate(held.size() % 2 == 0 ? 100 : kRequestBytesMax);
    if (handle == kNoBuffer) {
      break;
    }
    pool.At(handle)->bytes()[0] = 1;
    held.push_back(handle);
  }
  REQUIRE(held.size() > 1000);
  REQUIRE(pool.mapped_bytes() <= 8 << 20);
  for (const BufferHandle handle : held) {
    pool.Release(handle);
  }
  REQUIRE(pool.mapped_bytes() <= 256 << 10);
}

TEST_CASE(
    "request pool › lists a slab with room once, however often it becomes full and not full") {
  RequestPool pool(8 << 20);
  constexpr int kBuffers = 64;  // one slab
  std::vector<BufferHandle> held;
  for (int i = 0; i < kBuffers; ++i) {
    held.push_back(pool.Allocate(100));
  }
  REQUIRE(pool.slabs_with_room() == 0);
  for (int cycle = 0; cycle < 1000; ++cycle) {
    pool.Release(held.back());
    REQUIRE(pool.slabs_with_room() == 1);
    held.back() = pool.Allocate(100);
    REQUIRE(pool.slabs_with_room() == 0);
  }
  for (const BufferHandle handle : held) {
    pool.Release(handle);
  }
  REQUIRE(pool.slabs_with_room() == 1);
}

TEST_CASE("request pool › never gives one byte to two buffers") {
  const uint32_t seed = std::random_device{}();
  printf("  seed %u\n", seed);
  std::mt19937 random(seed);
  RequestPool pool(16 << 20);
  struct Held {
    BufferHandle handle;
    uint8_t mark;
    uint32_t size;
  };
  std::vector<Held> held;
  const auto is_intact = [&](const Held& each) {
    const uint8_t* const bytes = pool.At(each.handle)->bytes();
    return std::all_of(bytes, bytes + each.size, [&](uint8_t byte) { return byte == each.mark; });
  };
  for (int step = 0; step < 20'000; ++step) {
    if (held.size() < 300 && random() % 2 == 0) {
      const uint32_t size = 1 + random() % kRequestBytesMax;
      const Held each = {pool.Allocate(size), static_cast<uint8_t>(random()), size};
      REQUIRE(each.handle != kNoBuffer);
      REQUIRE(pool.At(each.handle)->capacity >= size);
      memset(pool.At(each.handle)->bytes(), each.mark, size);
      pool.At(each.handle)->size = size;
      held.push_back(each);
    } else if (!held.empty()) {
      const size_t at = random() % held.size();
      if (random() % 3 == 0) {
        held[at].handle = pool.Grow(held[at].handle, kRequestBytesMax);
        REQUIRE(held[at].handle != kNoBuffer);
        REQUIRE(is_intact(held[at]));
      } else {
        REQUIRE(is_intact(held[at]));
        pool.Release(held[at].handle);
        held[at] = held.back();
        held.pop_back();
      }
    }
  }
  for (const Held& each : held) {
    REQUIRE(is_intact(each));
  }
}

TEST_CASE("unsent answers › refuse bytes above the bound, and count back to zero") {
  UnsentAnswers unsent(1000);
  const std::vector<uint8_t> bytes(600, 7);
  const uint32_t first = unsent.Keep(bytes.data(), 600);
  REQUIRE(first != 0);
  REQUIRE(unsent.Keep(bytes.data(), 600) == 0);
  REQUIRE(unsent.At(first).bytes[599] == 7);
  unsent.Release(first);
  REQUIRE(unsent.bytes() == 0);
  REQUIRE(unsent.Keep(bytes.data(), 600) != 0);
}

}  // namespace
}  // namespace sprites
