// The queues between threads: the inbox and the outbox. Run under the thread sanitizer too.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "io/inbox.h"
#include "io/outbox.h"

namespace sprites {
namespace {

constexpr uint32_t kRecords = 300'000;

TEST_CASE("inbox › delivers every record once, whole and in order, while both sides stall") {
  Inbox inbox(16 << 10);
  std::thread io([&] {
    std::mt19937 random(1);
    for (uint32_t number = 0; number < kRecords;) {
      const uint32_t batch = 1 + random() % 40;
      for (uint32_t i = 0; i < batch && number < kRecords; ++i) {
        const uint32_t bytes = 8 * (1 + random() % 30);
        if (!inbox.filling()->HasRoom(bytes)) {
          break;
        }
        uint8_t* at = inbox.filling()->Extend(bytes);
        memset(at, static_cast<uint8_t>(number), bytes);
        memcpy(at, &bytes, 4);
        memcpy(at + 4, &number, 4);
        ++number;
      }
      while (inbox.Publish() == Inbox::Published::kNoRoom) {
        std::this_thread::yield();
      }
    }
  });
  std::vector<uint8_t> memory(64 << 10);
  uint32_t expected = 0;
  while (expected < kRecords) {
    RecordBuffer into(memory.data(), static_cast<uint32_t>(memory.size()));
    if (inbox.Receive(&into) == Inbox::Received::kNothing) {
      std::this_thread::yield();
    }
    for (uint32_t at = 0; at < into.size();) {
      uint32_t bytes;
      uint32_t number;
      memcpy(&bytes, memory.data() + at, 4);
      memcpy(&number, memory.data() + at + 4, 4);
      REQUIRE(number == expected);
      REQUIRE(std::all_of(memory.data() + at + 8, memory.data() + at + bytes,
                          [&](uint8_t byte) { return byte == static_cast<uint8_t>(number); }));
      ++expected;
      at += bytes;
    }
  }
  io.join();
}

TEST_CASE("inbox › asks for a signal after the first record, and for a wake after a stall") {
  Inbox inbox(4096);
  std::vector<uint8_t> memory(16 << 10);
  RecordBuffer into(memory.data(), 16 << 10);
  inbox.filling()->Extend(4096);
  REQUIRE(inbox.Publish() == Inbox::Published::kFirst);
  inbox.filling()->Extend(8);
  REQUIRE(inbox.Publish() == Inbox::Published::kNoRoom);
  REQUIRE(inbox.stalled());
  RecordBuffer small(memory.data(), 8);
  REQUIRE(inbox.Receive(&small) == Inbox::Received::kNoRoom);
  REQUIRE(inbox.Receive(&into) == Inbox::Received::kWakeThread);
  REQUIRE(into.size() == 4096);
  REQUIRE(inbox.Publish() == Inbox::Published::kFirst);
  REQUIRE(!inbox.stalled());
  REQUIRE(inbox.Receive(&into) == Inbox::Received::kRecords);
  REQUIRE(inbox.Receive(&into) == Inbox::Received::kNothing);
}

TEST_CASE("outbox › delivers every answer once and in order, and asks for every wake it needs") {
  Outbox outbox;
  std::atomic<uint32_t> wakes{0};
  std::atomic<bool> over{false};
  std::thread javascript([&] {
    std::mt19937 random(2);
    for (uint32_t number = 0; number < kRecords;) {
      for (uint32_t i = random() % 20; i > 0 && number < kRecords; --i, ++number) {
        uint8_t record[8] = {};
        memcpy(record, &number, 4);
        outbox.Stage(record, sizeof record);
      }
      if (outbox.Send()) {
        wakes.fetch_add(1);
      }
    }
    over.store(true);
  });
  std::vector<uint8_t> received;
  uint32_t expected = 0;
  uint32_t heard = 0;
  while (expected < kRecords) {
    // Sleeps until woken, like an I/O thread: one missing wake would hang here.
    while (wakes.load() == heard) {
      std::this_thread::yield();
    }
    ++heard;
    while (outbox.Receive(&received)) {
      for (size_t at = 0; at < received.size(); at += 8) {
        uint32_t number;
        memcpy(&number, received.data() + at, 4);
        REQUIRE(number == expected);
        ++expected;
      }
    }
  }
  javascript.join();
  REQUIRE(over.load());
  REQUIRE(!outbox.Receive(&received));
}

}  // namespace
}  // namespace sprites
