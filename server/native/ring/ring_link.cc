#include "ring/ring_link.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace sprites {
namespace {

// The version of the layout below. Open() refuses memory of another version of the addon.
constexpr uint32_t kVersion = 0x72696e31;

constexpr unsigned kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

struct RingLink::Shared {
  alignas(64) uint32_t version;
  RingHead from_maker_head;
  RingHead to_maker_head;
  alignas(4096) uint8_t from_maker[kRingBytes];
  alignas(4096) uint8_t to_maker[kRingBytes];

  RingMemory FromMaker() { return {&from_maker_head, from_maker, kRingBytes}; }
  RingMemory ToMaker() { return {&to_maker_head, to_maker, kRingBytes}; }
};

std::unique_ptr<RingLink> RingLink::Make(int peer_doorbell, int* memory) {
  const int descriptor = memfd_create("sprites-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) {
    return nullptr;
  }
  void* mapped = MAP_FAILED;
  if (ftruncate(descriptor, sizeof(Shared)) == 0 && fcntl(descriptor, F_ADD_SEALS, kSeals) == 0) {
    mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  if (mapped == MAP_FAILED) {
    const int error = errno;
    close(descriptor);
    errno = error;
    return nullptr;
  }
  Shared* const shared = static_cast<Shared*>(mapped);
  shared->version = kVersion;
  *memory = descriptor;
  return std::unique_ptr<RingLink>(new RingLink(shared, peer_doorbell, true));
}

std::unique_ptr<RingLink> RingLink::Open(int peer_doorbell, int memory) {
  struct stat status = {};
  if (fstat(memory, &status) != 0) {
    return nullptr;
  }
  if (status.st_size != static_cast<off_t>(sizeof(Shared))) {
    errno = EINVAL;
    return nullptr;
  }
  void* const mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (mapped == MAP_FAILED) {
    return nullptr;
  }
  Shared* const shared = static_cast<Shared*>(mapped);
  if (shared->version != kVersion) {
    munmap(mapped, sizeof(Shared));
    errno = EINVAL;
    return nullptr;
  }
  return std::unique_ptr<RingLink>(new RingLink(shared, peer_doorbell, false));
}

RingLink::RingLink(Shared* shared, int peer_doorbell, bool is_maker)
    : shared_(shared),
      peer_doorbell_(peer_doorbell),
      writer_(is_maker ? shared->FromMaker() : shared->ToMaker()),
      reader_(is_maker ? shared->ToMaker() : shared->FromMaker()) {}

RingLink::~RingLink() {
  munmap(shared_, sizeof(Shared));
  close(peer_doorbell_);
}

uint32_t RingLink::Write(const uint8_t* bytes, uint32_t size) {
  const RingWriter::Written written = writer_.Write(bytes, size);
  if (written.wake_reader) {
    WakePeer();
  }
  return written.bytes;
}

uint32_t RingLink::Read(uint8_t* bytes, uint32_t size) {
  const RingReader::Received received = reader_.Read(bytes, size);
  if (received.wake_writer) {
    WakePeer();
  }
  return received.bytes;
}

void RingLink::WakePeer() const { eventfd_write(peer_doorbell_, 1); }

}  // namespace sprites
