// What crosses threads: the inbox and the outbox. Run under the thread sanitizer too.
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "inbox.h"
#include "outbox.h"

namespace sprites {
namespace {

constexpr uint32_t kRecords = 300'000;

CASE("inbox: every record arrives once, whole and in order, through stalls on both sides") {
  Inbox inbox(16 << 10);
  std::atomic<bool> room{true};
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
      EXPECT(number == expected);
      for (uint32_t i = 8; i < bytes; ++i) {
        EXPECT(memory[at + i] == static_cast<uint8_t>(number));
      }
      ++expected;
      at += bytes;
    }
  }
  io.join();
}

CASE(
    "inbox: says that the first record needs a signal, and the thread a wake after it had no "
    "room") {
  Inbox inbox(4096);
  std::vector<uint8_t> memory(16 << 10);
  RecordBuffer into(memory.data(), 16 << 10);
  inbox.filling()->Extend(4096);
  EXPECT(inbox.Publish() == Inbox::Published::kFirst);
  inbox.filling()->Extend(8);
  EXPECT(inbox.Publish() == Inbox::Published::kNoRoom && inbox.stalled());
  RecordBuffer small(memory.data(), 8);
  EXPECT(inbox.Receive(&small) == Inbox::Received::kNoRoom);
  EXPECT(inbox.Receive(&into) == Inbox::Received::kWakeThread && into.size() == 4096);
  EXPECT(inbox.Publish() == Inbox::Published::kFirst && !inbox.stalled());
  EXPECT(inbox.Receive(&into) == Inbox::Received::kRecords &&
         inbox.Receive(&into) == Inbox::Received::kNothing);
}

CASE(
    "outbox: every answer arrives once and in order, and a wake is asked for whenever one is "
    "needed") {
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
  std::vector<uint8_t> taken;
  uint32_t expected = 0;
  uint32_t heard = 0;
  while (expected < kRecords) {
    // Sleeps until woken, like an I/O thread: a wake too few would hang here.
    while (wakes.load() == heard) {
      std::this_thread::yield();
    }
    ++heard;
    while (outbox.Receive(&taken)) {
      for (size_t at = 0; at < taken.size(); at += 8) {
        uint32_t number;
        memcpy(&number, taken.data() + at, 4);
        EXPECT(number == expected++);
      }
    }
  }
  javascript.join();
  EXPECT(over.load() && !outbox.Receive(&taken));
}

}  // namespace
}  // namespace sprites

int main() { return sprites::check::RunAll("boxes"); }
