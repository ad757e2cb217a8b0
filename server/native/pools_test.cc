// What holds memory: the connection table, the pool of partial requests, the unsent answers.
#include <cstring>
#include <random>
#include <vector>

#include "check.h"
#include "connection.h"
#include "request_pool.h"
#include "ticket.h"
#include "unsent_answers.h"

namespace sprites {
namespace {

CASE("connections: a record closed in this pass is not used again before the next") {
  ConnectionTable table;
  const Index first = table.Allocate(7);
  const uint32_t generation = table.At(first).generation;
  table.Release(first);
  EXPECT(table.Allocate(8) != first);
  table.EndPass();
  EXPECT(table.Allocate(9) == first);
  EXPECT(table.At(first).generation != generation && table.At(first).descriptor == 9);
}

CASE("connections: as many as a ticket can name, and no more") {
  ConnectionTable table;
  for (Index i = 0; i < 1u << kIndexBits; ++i) {
    EXPECT(table.Allocate(1) == i);
  }
  EXPECT(table.Allocate(1) == kNoIndex);
  table.Release(12345);
  table.EndPass();
  EXPECT(table.Allocate(1) == 12345);
}

CASE("tickets: come back from 48 bits as they went in, up to the largest") {
  for (const Ticket ticket :
       {Ticket{0, 0, 0}, Ticket{255, (1u << 20) - 1, (1u << 20) - 1}, Ticket{1, 2, 3}}) {
    const uint64_t packed = ticket.Pack();
    EXPECT(packed < 1ull << 48);
    const Ticket back = Ticket::Unpack(packed);
    EXPECT(back.thread == ticket.thread && back.index == ticket.index &&
           back.generation == ticket.generation);
  }
}

CASE("request pool: gives memory back after a storm, and keeps its bound during it") {
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
  EXPECT(held.size() > 1000 && pool.mapped_bytes() <= 8 << 20);
  for (const BufferHandle handle : held) {
    pool.Release(handle);
  }
  EXPECT(pool.mapped_bytes() <= 256 << 10);
}

CASE("request pool: two that are held never share a byte") {
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
  const auto check = [&](const Held& each) {
    for (uint32_t i = 0; i < each.size; ++i) {
      EXPECT(pool.At(each.handle)->bytes()[i] == each.mark);
    }
  };
  for (int step = 0; step < 20'000; ++step) {
    if (held.size() < 300 && random() % 2 == 0) {
      const uint32_t size = 1 + random() % kRequestBytesMax;
      const Held each = {pool.Allocate(size), static_cast<uint8_t>(random()), size};
      EXPECT(each.handle != kNoBuffer && pool.At(each.handle)->capacity >= size);
      memset(pool.At(each.handle)->bytes(), each.mark, size);
      pool.At(each.handle)->size = size;
      held.push_back(each);
    } else if (!held.empty()) {
      const size_t at = random() % held.size();
      if (random() % 3 == 0) {
        held[at].handle = pool.Grow(held[at].handle, kRequestBytesMax);
        EXPECT(held[at].handle != kNoBuffer);
        check(held[at]);
      } else {
        check(held[at]);
        pool.Release(held[at].handle);
        held[at] = held.back();
        held.pop_back();
      }
    }
  }
  for (const Held& each : held) {
    check(each);
  }
}

CASE("unsent answers: refuses above the bound and counts back to nothing") {
  UnsentAnswers unsent(1000);
  const std::vector<uint8_t> bytes(600, 7);
  const uint32_t first = unsent.Keep(bytes.data(), 600);
  EXPECT(first != 0 && unsent.Keep(bytes.data(), 600) == 0);
  EXPECT(unsent.At(first).bytes[599] == 7);
  unsent.Release(first);
  EXPECT(unsent.bytes() == 0 && unsent.Keep(bytes.data(), 600) != 0);
}

}  // namespace
}  // namespace sprites

int main() { return sprites::check::RunAll("pools"); }
