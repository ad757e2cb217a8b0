// The ring of bytes between two processes, here between two threads. Run under the thread sanitizer
// too.
#include "ring/byte_ring.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <semaphore>
#include <thread>
#include <vector>

namespace sprites {
namespace {

constexpr uint32_t kCapacity = 256;

// A ring whose bytes have exactly its size, so that the address sanitizer sees each access beyond
// it.
struct Ring {
  explicit Ring(uint32_t capacity = kCapacity)
      : bytes(new uint8_t[capacity]), memory{&head, bytes.get(), capacity} {}
  RingHead head = {};
  std::unique_ptr<uint8_t[]> bytes;
  const RingMemory memory;
};

std::vector<uint8_t> Numbered(uint32_t first, uint32_t count) {
  std::vector<uint8_t> bytes(count);
  for (uint32_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<uint8_t>((first + i) * 31 >> 3);
  }
  return bytes;
}

TEST_CASE("byte ring › holds as many bytes as its capacity") {
  Ring ring;
  RingWriter writer(ring.memory);
  RingReader reader(ring.memory);
  uint32_t count = 0;
  for (const uint32_t size :
       {0u, 1u, kCapacity - 1, kCapacity, kCapacity + 1, kCapacity, 7u, kCapacity}) {
    const std::vector<uint8_t> in = Numbered(count, 2 * kCapacity);
    const uint32_t fits = std::min(size, kCapacity);
    CHECK(writer.Write(in.data(), size).bytes == fits);
    CHECK(writer.Write(in.data(), kCapacity).bytes == kCapacity - fits);
    std::vector<uint8_t> out(2 * kCapacity);
    CHECK(reader.Read(out.data(), 2 * kCapacity).bytes == kCapacity);
    CHECK(memcmp(out.data(), in.data(), fits) == 0);
    CHECK(reader.Read(out.data(), 2 * kCapacity).bytes == 0);
    count += kCapacity;
  }
}

TEST_CASE("byte ring › delivers every byte once and in order, as positions pass 2^32") {
  const uint32_t seed = std::random_device{}();
  INFO("seed ", seed);
  std::mt19937 random(seed);
  Ring ring;
  const uint32_t first = ~0u - 1000;
  ring.head.written = ring.head.read = first;
  RingWriter writer(ring.memory, first);
  RingReader reader(ring.memory, first);
  std::deque<uint8_t> inside;
  uint32_t count = 0;
  for (int step = 0; step < 10'000; ++step) {
    if (random() % 2 == 0) {
      const std::vector<uint8_t> in = Numbered(count, random() % (2 * kCapacity));
      const uint32_t written = writer.Write(in.data(), static_cast<uint32_t>(in.size())).bytes;
      REQUIRE(written == std::min<size_t>(in.size(), kCapacity - inside.size()));
      inside.insert(inside.end(), in.begin(), in.begin() + written);
      count += written;
    } else {
      std::vector<uint8_t> out(random() % (2 * kCapacity));
      const uint32_t read = reader.Read(out.data(), static_cast<uint32_t>(out.size())).bytes;
      REQUIRE(read == std::min(out.size(), inside.size()));
      REQUIRE(std::equal(out.begin(), out.begin() + read, inside.begin()));
      inside.erase(inside.begin(), inside.begin() + read);
    }
  }
}

TEST_CASE("byte ring › wakes a reader that sleeps, once, and no other") {
  Ring ring;
  RingWriter writer(ring.memory);
  RingReader reader(ring.memory);
  const uint8_t byte = 1;
  uint8_t out = 0;
  CHECK_FALSE(writer.Write(&byte, 1).wake_reader);
  CHECK_FALSE(reader.Sleep());
  CHECK(reader.Read(&out, 1).bytes == 1);
  CHECK(reader.Sleep());
  CHECK(reader.Sleep());
  CHECK(writer.Write(&byte, 1).wake_reader);
  CHECK_FALSE(writer.Write(&byte, 1).wake_reader);
  CHECK_FALSE(reader.Sleep());
}

TEST_CASE("byte ring › wakes a writer that waits for room, once, and no other") {
  Ring ring;
  RingWriter writer(ring.memory);
  RingReader reader(ring.memory);
  const std::vector<uint8_t> in(kCapacity + 1);
  std::vector<uint8_t> out(kCapacity);
  CHECK(writer.Write(in.data(), kCapacity).bytes == kCapacity);
  CHECK_FALSE(reader.Read(out.data(), 1).wake_writer);
  CHECK(writer.Write(in.data(), 2).bytes == 1);
  CHECK_FALSE(writer.HasRoomAgain());
  CHECK(reader.Read(out.data(), 1).wake_writer);
  CHECK(writer.HasRoomAgain());
  CHECK_FALSE(reader.Read(out.data(), 1).wake_writer);
  CHECK(writer.Write(in.data(), 2).bytes == 2);
  CHECK_FALSE(writer.HasRoomAgain());
}

TEST_CASE("byte ring › breaks when the position of the peer is impossible, and touches nothing") {
  for (const uint32_t position : {kCapacity + 1, 1u << 31, ~0u}) {
    Ring ring;
    RingWriter writer(ring.memory);
    RingReader reader(ring.memory);
    std::vector<uint8_t> bytes(kCapacity);
    ring.head.written = position;
    CHECK_FALSE(reader.Sleep());
    CHECK(reader.Read(bytes.data(), kCapacity).bytes == 0);
    CHECK(reader.is_broken());
    ring.head.written = 0;
    CHECK(reader.Read(bytes.data(), kCapacity).bytes == 0);
    ring.head.read = 0 - position;  // so many bytes behind
    CHECK(writer.Write(bytes.data(), kCapacity).bytes == 0);
    CHECK(writer.is_broken());
  }
}

TEST_CASE("byte ring › delivers everything between two threads that sleep, in every size") {
  constexpr uint32_t kBytes = 4'000'000;
  Ring ring;
  std::binary_semaphore for_reader(0);
  std::binary_semaphore for_writer(0);
  const auto ring_doorbell = [](std::binary_semaphore* doorbell) {
    // As an eventfd: a doorbell that has rung stays rung.
    doorbell->try_acquire();
    doorbell->release();
  };
  std::thread writing([&] {
    std::mt19937 random(1);
    RingWriter writer(ring.memory);
    for (uint32_t count = 0; count < kBytes;) {
      const std::vector<uint8_t> in =
          Numbered(count, std::min<uint32_t>(1 + random() % 700, kBytes - count));
      for (uint32_t done = 0; done < in.size();) {
        const RingWriter::Written written =
            writer.Write(in.data() + done, static_cast<uint32_t>(in.size()) - done);
        done += written.bytes;
        if (written.wake_reader) {
          ring_doorbell(&for_reader);
        }
        if (done < in.size()) {
          for_writer.acquire();
        }
      }
      count += static_cast<uint32_t>(in.size());
    }
  });
  std::mt19937 random(2);
  RingReader reader(ring.memory);
  bool is_right = true;
  for (uint32_t count = 0; count < kBytes;) {
    if (reader.Sleep()) {
      for_reader.acquire();
    }
    std::vector<uint8_t> out(1 + random() % 400);
    const RingReader::Received received =
        reader.Read(out.data(), static_cast<uint32_t>(out.size()));
    if (received.wake_writer) {
      ring_doorbell(&for_writer);
    }
    const std::vector<uint8_t> expected = Numbered(count, received.bytes);
    is_right = is_right && std::equal(expected.begin(), expected.end(), out.begin());
    count += received.bytes;
  }
  writing.join();
  CHECK(is_right);
}

}  // namespace
}  // namespace sprites
