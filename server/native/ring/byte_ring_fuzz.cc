// libFuzzer target: whatever a peer writes into the shared memory, and whenever, this process reads
// and writes inside the ring only, gets no more bytes than it asked for, and never goes on after an
// impossible position. The corpus is in corpus/byte_ring/.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "ring/byte_ring.h"

namespace {

constexpr uint32_t kCapacity = 64;

void Require(bool condition) {
  if (!condition) {
    abort();
  }
}

}  // namespace

// Each five bytes are one step: what to do, and a number.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  sprites::RingHead head = {};
  // Exactly as many bytes as needed, so that the address sanitizer detects one too many.
  const auto ring = std::make_unique<uint8_t[]>(kCapacity);
  const sprites::RingMemory memory = {&head, ring.get(), kCapacity};
  sprites::RingWriter writer(memory);
  sprites::RingReader reader(memory);
  for (size_t at = 0; at + 5 <= size; at += 5) {
    uint32_t number = 0;
    memcpy(&number, bytes + at + 1, sizeof number);
    const uint32_t count = number % (3 * kCapacity);
    const auto own = std::make_unique<uint8_t[]>(count);
    switch (bytes[at] % 8) {
      case 0:
        head.written = number;
        break;
      case 1:
        head.read = number;
        break;
      case 2:
        head.written = head.written + count;
        break;
      case 3:
        head.read = head.read + count;
        break;
      case 4:
        head.reader_sleeps = number;
        head.writer_waits = number;
        break;
      case 5: {
        const bool was_broken = writer.is_broken();
        const uint32_t written = writer.Write(own.get(), count).bytes;
        Require(written <= count && written <= kCapacity && !(was_broken && written > 0));
        break;
      }
      case 6: {
        const bool was_broken = reader.is_broken();
        const uint32_t read = reader.Read(own.get(), count).bytes;
        Require(read <= count && read <= kCapacity && !(was_broken && read > 0));
        break;
      }
      default:
        Require(!(reader.Sleep() && reader.is_broken()));
        writer.HasRoomAgain();
    }
  }
  return 0;
}
